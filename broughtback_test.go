package cairn_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestBroughtBackAlthoughIgnored: a file was captured before a rule ignored it, and an operation brings it
// back. The next track captures it again, so it has the tree of the restored state.
func TestBroughtBackAlthoughIgnored(t *testing.T) {
	t.Parallel()
	for name, rules := range map[string]string{"file": "build/out\nbuild/log\n", "directory": "build/\n"} {
		for how, restore := range map[string]func(f *fixture, first, held string){
			"whole":  func(f *fixture, _, held string) { f.restore(held) },
			"path":   func(f *fixture, first, _ string) { f.restore(first, "build/out") },
			"killed": func(f *fixture, _, held string) { f.interruptedRestore(held) },
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, gittest.Tree{"build/out": gittest.File("out"), "kept": gittest.File("kept")})
				first := f.track()
				f.write(".gitignore", rules)
				f.write("build/log", "never captured")
				held := f.track()
				f.remove("build/out")
				gone := f.track()
				restore(f, first.Hash, held.Hash)
				f.hasTree("restored", held.Hash)
				f.undo(cairn.RevertOptions{})
				f.hasTree("undone", gone.Hash)
				f.redo()
				f.hasTree("redone", held.Hash)
				if f.read("build/log") != "never captured" {
					t.Error("the ignored file beside it has changed")
				}
			})
		}
	}
}

// hasTree fails unless a track has a hash.
func (f *fixture) hasTree(when, hash string) {
	f.Helper()
	if got := f.track(); got.Hash != hash {
		f.Errorf("%s: a track has the tree of %q, not of %q", when, f.files(got.Hash), f.files(hash))
	}
}
