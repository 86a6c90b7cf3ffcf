package mcptools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// TestForks: the tools fork and forks.
func TestForks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.track()
	dir := filepath.Join(t.TempDir(), "fork")
	var made forked
	text := w.call("fork", map[string]any{"dir": dir, "dryRun": true}, &made)
	wantText(t, "plan", text, "nothing is made yet", pathtext.Place(dir))
	text = w.call("fork", map[string]any{"dir": dir}, &made)
	wantText(t, "fork", text, pathtext.Place(dir))
	if made.Dir != dir || made.Files == 0 {
		t.Errorf("%+v", made)
	}
	w.fails("absolute", "fork", map[string]any{"dir": "relative"})
	w.fails("bad escape", "fork", map[string]any{"dir": dir + "\x0000"})
	w.fails("no linked work tree of git", "fork", map[string]any{"dir": dir + "-2", "gitWorktree": true})
	w.fails("no empty directory", "fork", map[string]any{"dir": dir})
	if err := os.WriteFile(filepath.Join(dir, "new"), []byte("n\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var list forksAnswer
	text = w.call("forks", map[string]any{}, &list)
	wantText(t, "forks", text, pathtext.Place(dir), "1 changed, 1 not merged")
	if len(list.Forks) != 1 || list.Forks[0].Unmerged != 1 {
		t.Errorf("%+v", list)
	}
}

// TestRemoveFork: the tool fork_remove removes what is merged, and nothing else.
func TestRemoveFork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.track()
	dir := filepath.Join(t.TempDir(), "fork")
	var made forked
	w.call("fork", map[string]any{"dir": dir}, &made)
	if err := os.WriteFile(filepath.Join(dir, "new"), []byte("n\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.fails("not merged: new", "fork_remove", map[string]any{"dir": dir})
	w.fails("cairn fork --remove --force", "fork_remove", map[string]any{"dir": dir})
	var gone cairn.RemovedFork
	text := w.call("fork_remove", map[string]any{"dir": dir, "dryRun": true}, &gone)
	wantText(t, "dry run", text, "nothing is removed yet", "not merged: new")
	if len(gone.Lost) != 1 || gone.Saved != "" {
		t.Errorf("%+v", gone)
	}
	for i := range 600 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("more", i)), []byte("n\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var many removedFork
	text = w.call("fork_remove", map[string]any{"dir": dir, "dryRun": true}, &many)
	if wantText(t, "many", text, "and 581 more"); len(many.Lost) != maxPaths || many.Unlisted != 101 || strings.Count(text, "\n") > maxLines+1 {
		t.Errorf("%d lost, %d unlisted:\n%s", len(many.Lost), many.Unlisted, text)
	}
	for i := range 600 {
		if err := os.Remove(filepath.Join(dir, fmt.Sprint("more", i))); err != nil {
			t.Fatal(err)
		}
	}
	w.fails("absolute path", "fork_remove", map[string]any{"dir": "fork"})
	w.fails("not found", "fork_remove", map[string]any{"dir": t.TempDir()})
	if err := os.Remove(filepath.Join(dir, "new")); err != nil { // nothing is left to merge
		t.Fatal(err)
	}
	text = w.call("fork_remove", map[string]any{"dir": dir}, &gone)
	wantText(t, "removal", text, pathtext.Place(dir), gone.Saved)
	if _, err := os.Lstat(dir); err == nil || gone.Saved == "" {
		t.Errorf("%s is there: %+v", dir, gone)
	}
}
