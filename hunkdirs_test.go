package cairn_test

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestHunkInThePlaceOfDirectoriesInDirectories: a directory that holds directories alone comes back
// with them, each with its own bits. It does so where the file has been removed since, too.
func TestHunkInThePlaceOfDirectoriesInDirectories(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]func(*fixture){
		"the file is there":       func(*fixture) {},
		"the file is gone":        func(f *fixture) { f.remove("made") },
		"a directory is there":    func(f *fixture) { f.remove("made"); f.mkdir("made") },
		"one of them is there":    func(f *fixture) { f.remove("made"); f.mkdir("made/in") },
		"it is there with a file": func(f *fixture) { f.remove("made"); f.write("made/in/later", "later\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
			for _, dir := range []string{"made", "made/in", "made/in/deep", "made/side"} {
				if err := os.Mkdir(f.path(dir), 0o750); err != nil {
					t.Fatal(err)
				}
			}
			before := f.manifest()
			from := f.track().Checkpoint
			f.remove("made")
			f.write("made", "file\n")
			to := f.track().Checkpoint
			since(f)
			f.revertHunks(from, to, cairn.RevertOptions{Hunks: []string{f.hunksOf(from, to)["made @@ -0,0 +1 @@"]}, OnConflict: cairn.Overwrite})
			got := f.manifest()
			delete(got, "made/in/later")
			gittest.AssertEqual(t, "after the revert", before, got)
		})
	}
}

// TestHunkInThePlaceOfADirectoryWithFiles: such a directory comes back with its files, which are hunks
// of their own. Only the directories in it that have no files come back before.
func TestHunkInThePlaceOfADirectoryWithFiles(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string][]string{"files alone": nil, "an empty directory, too": {"made/empty/deep"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("a\n"), "made/in/x": gittest.File("x\n")})
			for _, dir := range empty {
				f.mkdir(dir)
			}
			before := f.manifest()
			from := f.track().Checkpoint
			f.remove("made")
			f.write("made", "file\n")
			to := f.track().Checkpoint
			hunks := f.hunksOf(from, to)
			f.revertHunks(from, to, cairn.RevertOptions{Hunks: []string{hunks["made @@ -0,0 +1 @@"]}})
			want := gittest.Tree{"a": gittest.File("a\n")}
			for _, dir := range empty {
				want[dir] = gittest.Dir()
			}
			gittest.AssertTree(t, f.root, want)
			f.revertHunks(from, to, cairn.RevertOptions{Hunks: []string{hunks["made/in/x @@ -1 +0,0 @@"]}})
			f.same(before)
		})
	}
}
