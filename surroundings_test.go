package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestRepositoryMadeMeanwhile: a Repo that was open before goes by the rules of a
// repository that the user makes around the root, and no longer when it is gone.
func TestRepositoryMadeMeanwhile(t *testing.T) {
	t.Parallel()
	for _, watch := range []bool{false, true} {
		for _, above := range []bool{false, true} {
			t.Run(fmt.Sprintf("watching %t, above %t", watch, above), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
				f.opt.Watch = watch
				open := f.repo()
				wants := func(when string, want ...string) {
					t.Helper()
					if files := f.capturedBy(open); !slices.Equal(files, want) {
						t.Errorf("%s: captured %q, want %q", when, files, want)
					}
				}
				wants("no repository", "a")
				top := f.root
				if above {
					top = filepath.Dir(f.root)
				}
				gittest.NewOracle(t).Init(top)
				if err := os.WriteFile(filepath.Join(top, ".git/info/exclude"), []byte("*.log\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				f.write("b.log", "b")
				f.write("c", "c")
				wants("in a repository", "a", "c")
				if err := os.RemoveAll(filepath.Join(top, ".git")); err != nil {
					t.Fatal(err)
				}
				f.write("d.log", "d")
				wants("the repository is gone", "a", "b.log", "c", "d.log")
			})
		}
	}
}
