package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// become replaces everything in the root.
func (f *fixture) become(tree gittest.Tree) {
	f.Helper()
	entries, err := os.ReadDir(f.root)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(f.root, e.Name())); err != nil {
			f.Fatal(err)
		}
	}
	gittest.Create(f.T, f.root, tree)
}

// TestRevertOfTwoStepsLeavesTheDirectoriesOfBefore: two steps go back together. A directory that came or
// went with the files of the older one is as before it.
func TestRevertOfTwoStepsLeavesTheDirectoriesOfBefore(t *testing.T) {
	t.Parallel()
	file := gittest.File("f\n")
	for name, trees := range map[string][3]gittest.Tree{
		"a file moved":                  {{"b": file}, {"b": file, "p/d/x": file}, {"b": file, "p/d/y": file}},
		"a directory in a file's place": {{"b": file}, {"b": file, "p/d/x": file}, {"b": file, "p/d/x": gittest.Dir()}},
		"a directory emptied":           {{"b": file}, {"b": file, "p/d/x": file}, {"b": file, "p/d": gittest.Dir()}},
		"an empty directory made again": {{"b": file, "p/d": gittest.Dir()}, {"b": file}, {"b": file, "p/d/x": file}},
		"a file between":                {{"b": file, "d": gittest.Dir()}, {"b": file, "d": file}, {"b": file, "d/x": file}},
		"a directory with other bits":   {{"b": file, "p/d": gittest.DirMode(0o700), "p/d/x": file}, {"b": file}, {"b": file, "p/d/y": file}},
		"bits in three steps":           {{"b": file, "d": gittest.DirMode(0o700), "d/x": file}, {"b": file, "d": file}, {"b": file, "d": gittest.DirMode(0o750), "d/x": file}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, trees[0])
			before := gittest.Manifest(t, f.root)
			f.step("s", "m", "1", func() { f.become(trees[1]) })
			f.step("s", "n", "2", func() { f.become(trees[2]) })
			after := gittest.Manifest(t, f.root)
			f.revert("s", session.Target{Message: "m"})
			gittest.AssertTree(t, f.root, trees[0])
			gittest.AssertEqual(t, "after the revert", before, gittest.Manifest(t, f.root))
			f.unrevert("s")
			gittest.AssertEqual(t, "after the unrevert", after, gittest.Manifest(t, f.root))
		})
	}
}
