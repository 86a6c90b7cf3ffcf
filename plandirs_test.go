package cairn_test

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestDirectoriesInEqualTrees: what concerns directories alone changes no tree, and so
// has to be found without looking into the trees.
func TestDirectoriesInEqualTrees(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{
		"a/deep/f": gittest.File("f"), "a/deep/empty": gittest.Dir(), "b/g": gittest.File("g"), "c/h": gittest.File("h"), "d/i": gittest.File("i"),
	}
	for name, edit := range map[string]func(f *fixture){
		"one more":         func(f *fixture) { os.MkdirAll(f.path("a/deep/made/within"), 0o755) },
		"one less":         func(f *fixture) { f.remove("a/deep/empty") },
		"bits of one":      func(f *fixture) { os.Chmod(f.path("a/deep"), 0o700) },
		"bits of an empty": func(f *fixture) { os.Chmod(f.path("a/deep/empty"), 0o711) },
		"bits of all": func(f *fixture) {
			for _, dir := range []string{"a", "a/deep", "a/deep/empty", "b", "c", "d"} {
				os.Chmod(f.path(dir), 0o700)
			}
		},
		"bits of most, and a file": func(f *fixture) {
			for _, dir := range []string{"a", "a/deep", "a/deep/empty", "b"} {
				os.Chmod(f.path(dir), 0o700)
			}
			f.write("c/h", "other")
		},
		"one inside of a new one": func(f *fixture) {
			f.write("new/file", "n")
			os.MkdirAll(f.path("new/sub/empty"), 0o755)
		},
		"a file in the place of one": func(f *fixture) {
			f.remove("a/deep/empty")
			f.write("a/deep/empty", "a file")
			f.remove("d")
			f.write("d", "a file")
		},
		"one in the place of a file": func(f *fixture) {
			f.remove("b/g")
			os.MkdirAll(f.path("b/g/empty"), 0o755)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, tree)
			first := f.track().Checkpoint
			want := f.manifest()
			edit(f)
			f.track()
			edited := f.manifest()
			f.restoreAll(first)
			gittest.AssertEqual(t, "after the restore", want, f.manifest())
			_, after := f.newestOperation()
			if changes, err := f.repo().Changes(f.Context(), after.ID, ""); err != nil || len(changes) > 0 {
				t.Errorf("the state after the restore is not the disk's: %+v, %v", changes, err)
			}
			if op, _ := f.newestOperation(); op != nil {
				f.restoreAll(op.Before)
				gittest.AssertEqual(t, "and back", edited, f.manifest())
			}
		})
	}
}
