package trial

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestStepsBesideTheTree: states of one tree that differ in an empty directory or in permission bits are steps
// of their own. A command may fail because of either, and the next change of a file is not to blame.
func TestStepsBesideTheTree(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	file := func(text string) gittest.Tree { return gittest.Tree{"f": gittest.File(text)} }
	withDir := file("1\n")
	withDir["logs"] = gittest.Dir()
	first, _ := f.state(withDir)
	gone, _ := f.state(file("1\n"))
	if err := os.Chmod(filepath.Join(f.root, "f"), 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := f.repo.Track(t.Context(), cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same, err := f.repo.Track(t.Context(), cairn.TrackOptions{Message: "the same"})
	if err != nil {
		t.Fatal(err)
	}
	last, _ := f.state(file("2\n"))
	steps, err := Steps(t.Context(), f.repo, first, last)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range steps {
		got = append(got, c.ID)
	}
	want := []string{first.ID, gone.ID, made.Checkpoint, last.ID}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q; %s has the state of the one before", got, want, same.Checkpoint)
	}
}
