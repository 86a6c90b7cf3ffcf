package mcptools

import (
	"os"
	"path/filepath"
	"testing"
)

// TestForks: the tools fork and forks.
func TestForks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.track()
	dir := filepath.Join(t.TempDir(), "fork")
	var made forked
	text := w.call("fork", map[string]any{"dir": dir, "dryRun": true}, &made)
	wantText(t, "plan", text, "nothing is made yet", dir)
	text = w.call("fork", map[string]any{"dir": dir}, &made)
	wantText(t, "fork", text, dir)
	if made.Dir != dir || made.Files == 0 {
		t.Errorf("%+v", made)
	}
	w.fails("absolute", "fork", map[string]any{"dir": "relative"})
	w.fails("bad escape", "fork", map[string]any{"dir": dir + "\x0000"})
	w.fails("no empty directory", "fork", map[string]any{"dir": dir})
	if err := os.WriteFile(filepath.Join(dir, "new"), []byte("n\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var list forksAnswer
	text = w.call("forks", map[string]any{}, &list)
	wantText(t, "forks", text, dir, "1 changed, 1 not merged")
	if len(list.Forks) != 1 || list.Forks[0].Unmerged != 1 {
		t.Errorf("%+v", list)
	}
}
