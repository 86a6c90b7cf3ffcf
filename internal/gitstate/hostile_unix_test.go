//go:build unix

package gitstate

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestHostile: a reading neither waits for a FIFO nor follows a link out of the repository.
func TestHostile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.commit("one")
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte(id+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gitDir := filepath.Join(w.dir, ".git")
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(gitDir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	fifo := func(path string) {
		t.Helper()
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link(outside, "refs/remotes")
	link(filepath.Join(outside, "secret"), "refs/tags/away")
	link("refs/heads/main", "refs/heads/symbolic")
	link(filepath.Join(outside, "secret"), "MERGE_HEAD")
	link(outside, "rebase-merge")
	link(outside, "worktrees")
	fifo(filepath.Join(gitDir, "refs", "heads", "fifo"))
	fifo(filepath.Join(gitDir, "packed-refs"))
	fifo(filepath.Join(gitDir, "BISECT_LOG"))
	r := w.read()
	if len(r.Refs) != 2 || r.Refs["refs/heads/main"] != id || r.Refs["refs/heads/symbolic"] != "ref: refs/heads/main" {
		t.Errorf("refs %q", r.Refs)
	}
	for _, name := range []string{"MERGE_HEAD", "BISECT_LOG"} {
		if r.Files[name] != nil {
			t.Errorf("%s was read", name)
		}
	}
	if len(r.Worktrees) != 0 || r.Under() != "" || len(r.Notes) == 0 {
		t.Errorf("work trees %v, in progress %q, notes %q", r.Worktrees, r.Under(), r.Notes)
	}
	// The directory of refs is a link itself.
	if err := os.Rename(filepath.Join(gitDir, "refs"), filepath.Join(outside, "refs")); err != nil {
		t.Fatal(err)
	}
	link(filepath.Join(outside, "refs"), "refs")
	if r := w.read(); len(r.Refs) != 0 {
		t.Errorf("refs behind a link: %q", r.Refs)
	}
}
