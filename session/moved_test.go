package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// A project that was moved, twice, has the paths of its turns where it lies now, and so has a fork of it.
func TestMovedProject(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, filepath.Join(t.TempDir(), "first"), gittest.Tree{"a": gittest.File("1\n")})
	f.turn("s", "m-1", "One", "b", "1\n")
	f.move("second")
	f.turn("s", "m-2", "Two", "c", "2\n")
	f.move("third")
	f.changedEach("s", "b", "c")
	fork := &fixture{T: t, root: filepath.Join(t.TempDir(), "fork"), data: f.data}
	if _, err := f.repo.Fork(background, fork.root, cairn.ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	fork.reopen()
	fork.changedEach("s", "b", "c")
}

// move renames the root, whose store follows.
func (f *fixture) move(name string) {
	f.Helper()
	old := f.repo.Root()
	if err := f.repo.Close(); err != nil {
		f.Fatal(err)
	}
	f.root = filepath.Join(filepath.Dir(old), name)
	if err := os.Rename(old, f.root); err != nil {
		f.Fatal(err)
	}
	if err := cairn.Adopt(background, f.data, old, f.root); err != nil {
		f.Fatal(err)
	}
	f.reopen()
}

// changedEach fails unless the messages of a session changed one file each, below the root.
func (f *fixture) changedEach(id string, files ...string) {
	f.Helper()
	messages, err := f.History(background, id)
	if err != nil || len(messages) != len(files) {
		f.Fatalf("messages %+v, %v", messages, err)
	}
	for i, file := range files {
		got := messages[i].Steps[0].Patch.Files
		if want := filepath.ToSlash(f.repo.Root()) + "/" + file; len(got) != 1 || got[0] != want {
			f.Errorf("message %d changed %q, want %s", i, got, want)
		}
	}
}
