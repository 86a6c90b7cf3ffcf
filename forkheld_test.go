package cairn_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestForkOfHeldFiles: ignored files that the directory captures, because they were captured before a rule ignored them or
// because git tracks them, are captured in a fork, too. It has no repository that could tell. So nothing is changed in a
// new fork, also where its stat cache is lost, and a change of such a file is merged.
func TestForkOfHeldFiles(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"build/out": gittest.File("out\n"), "build/kept/deep": gittest.File("deep\n"), "a": gittest.File("a\n")})
	o.Init(f.root)
	f.track()
	f.write(".gitignore", "build/\ndist/\n")
	f.write("dist/forced", "forced\n")
	o.In(f.root, "add", "-f", "dist/forced")
	f.write("dist/left", "never captured\n")
	here := f.track()
	for _, lost := range []bool{false, true} {
		k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
		if lost {
			k.loseIndex()
		}
		if there := k.track(); there.Hash != here.Hash {
			t.Errorf("the fork has captured %q, not %q", k.files(there.Hash), f.files(here.Hash))
		}
		k.write("dist/forced", "changed in the fork\n")
		k.write("build/new", "ignored\n")
		if files := k.patch(here.Hash); !slices.Equal(files, []string{"dist/forced"}) {
			t.Errorf("changed in the fork: %q", files)
		}
		res, err := f.repo().Merge(t.Context(), cairn.MergeSource{Repo: k.repo()}, cairn.MergeOptions{DryRun: true})
		if err != nil || len(res.Plan) != 1 || !res.Complete() {
			t.Errorf("merge: %+v %v", res, err)
		}
		k.remove("dist/forced")
		k.remove("build/kept/deep")
		if files := k.files(k.track().Hash); !slices.Equal(files, []string{".gitignore", "a", "build/out"}) {
			t.Errorf("after files are gone: %q", files)
		}
	}
}

// loseIndex removes the stat cache.
func (f *fixture) loseIndex() {
	f.Helper()
	files, err := filepath.Glob(filepath.Join(f.indexDir(), "index*"))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			f.Fatal(err)
		}
	}
}
