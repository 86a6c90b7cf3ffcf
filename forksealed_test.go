package cairn_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// sealedForks is a root in a git repository with two forks, of which the second lies inside the root. Their stores are
// sealed.
func sealedForks(t *testing.T) (f, beside, inside *fixture) {
	t.Helper()
	f = newFixture(t, gittest.Tree{".gitignore": gittest.File("/copies/\n"), "a": gittest.File("1\n"), "copies": gittest.Dir()})
	if _, err := gittest.NewOracle(t).Try(f.root, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	sealing(t)(&f.opt)
	f.track()
	beside, _ = f.fork(filepath.Join(t.TempDir(), "beside"), cairn.ForkOptions{})
	inside, _ = f.fork(f.path("copies/inside"), cairn.ForkOptions{})
	for _, k := range []*fixture{beside, inside} {
		k.write("a", "2\n")
		k.write("sub/b", "2\n")
		k.track()
		k.seal()
	}
	return f, beside, inside
}

// TestSealedForkIsItsOwnRoot: a command in a fork inside the root means the fork, also where its store is sealed. It
// meant the root around it.
func TestSealedForkIsItsOwnRoot(t *testing.T) {
	t.Parallel()
	f, _, k := sealedForks(t)
	for _, dir := range []string{k.root, k.path("sub")} {
		if root, err := cairn.FindRootIn(dir, f.data); err != nil || root != k.root {
			t.Errorf("%s belongs to %s, %v", dir, root, err)
		}
	}
	if _, err := cairn.Unseal(t.Context(), k.opt, cairn.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	if root, err := cairn.FindRootIn(k.path("sub"), f.data); err != nil || root != k.root {
		t.Errorf("opened again: %s, %v", root, err)
	}
	if faults, err := k.repo().Check(t.Context(), cairn.CheckOptions{}); err != nil || len(faults) > 0 {
		t.Errorf("faults %+v, %v", faults, err)
	}
}

// TestForksThatAreSealed: a sealed fork is opened where that is allowed, and otherwise an error. It was no fork.
func TestForksThatAreSealed(t *testing.T) {
	t.Parallel()
	f, beside, inside := sealedForks(t)
	if list, err := f.repo().Forks(t.Context()); !errors.Is(err, cairn.ErrSealed) {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := f.repo().RemoveFork(t.Context(), beside.root, cairn.RemoveForkOptions{Force: true}); !errors.Is(err, cairn.ErrSealed) {
		t.Errorf("removed: %v", err)
	}
	if _, err := cairn.Unseal(t.Context(), beside.opt, cairn.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	if res, err := f.repo().RemoveFork(t.Context(), beside.root, cairn.RemoveForkOptions{}); !errors.Is(err, cairn.ErrUnmerged) || len(res.Lost) != 3 {
		t.Errorf("beside a sealed fork: %v", err)
	}
	beside.seal()
	f.closeAll()
	f.opened, f.opt.Unseal = nil, true
	if list := f.forks(); len(list) != 2 || list[0].Changed != 2 || list[1].Changed != 2 || cairn.StoreSealed(f.data, inside.root) {
		t.Errorf("opened: %+v", list)
	}
	beside.seal()
	if _, err := f.repo().RemoveFork(t.Context(), beside.root, cairn.RemoveForkOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(beside.root); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory: %v", err)
	}
}
