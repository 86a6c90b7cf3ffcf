package cairn_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// renamedFixture is a root with one checkpoint that was renamed from old. It skips where the file system does not
// know when a directory was made.
func renamedFixture(t *testing.T) (f *fixture, old, hash string) {
	t.Helper()
	f = newFixtureIn(t, filepath.Join(t.TempDir(), "parent"), gittest.Tree{"a": gittest.File("1"), "sub/b": gittest.File("2")})
	if _, ok := identity.DirectoryAt(f.root); !ok {
		t.Skip("this file system does not know when a directory was made")
	}
	hash = f.trackAll()
	old = f.repo().Root()
	return f, old, hash
}

// moveTo renames the root. Nothing has it open.
func (f *fixture) moveTo(name string) {
	f.Helper()
	f.closeAll()
	f.opened = nil
	to := filepath.Join(filepath.Dir(f.root), name)
	if err := os.Rename(f.root, to); err != nil {
		f.Fatal(err)
	}
	f.root, f.opt.Root = to, to
}

// tookAlong fails unless the store of old has come along with the checkpoint hash, and leads back to it.
func (f *fixture) tookAlong(old, hash string) {
	f.Helper()
	if got := f.repo().Adopted(); got != old {
		f.Errorf("adopted %q, want %q", got, old)
	}
	f.write("a", "later")
	f.restoreAll(hash)
	if f.read("a") != "1" {
		f.Errorf("a holds %q", f.read("a"))
	}
	f.sound()
	if _, err := os.Lstat(cairn.StorePath(f.data, old)); err == nil {
		f.Errorf("%s still has a store", old)
	}
}

// hasNoStore fails if a store has come along.
func (f *fixture) hasNoStore(hash string) {
	f.Helper()
	if got := f.repo().Adopted(); got != "" {
		f.Errorf("adopted the store of %s", got)
	}
	if _, err := f.repo().Lookup(background, hash); !errors.Is(err, cairn.ErrNotFound) {
		f.Errorf("the checkpoint of another directory is here: %v", err)
	}
}

// The store of a renamed root comes along, also where the root is only read, or renamed
// twice, or its parent was.
func TestRenamedRoot(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"by track", "by a reader", "twice", "with its parent"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, old, hash := renamedFixture(t)
			switch name {
			case "by a reader":
				f.opt.MustExist = true
			case "twice":
				f.moveTo("between")
				f.tookAlong(old, hash)
				old = f.repo().Root()
			}
			if name == "with its parent" {
				f.closeAll()
				parent := filepath.Dir(f.root)
				if err := os.Rename(parent, parent+"-new"); err != nil {
					t.Fatal(err)
				}
				f.opened, f.root = nil, filepath.Join(parent+"-new", filepath.Base(old))
				f.opt.Root = f.root
			} else {
				f.moveTo("new")
			}
			f.tookAlong(old, hash)
		})
	}
}

// A symlink that was left at the former path leads to the same root, which has one history.
func TestRenamedRootBehindASymlink(t *testing.T) {
	t.Parallel()
	f, old, hash := renamedFixture(t)
	f.moveTo("new")
	if err := os.Symlink(f.root, old); err != nil {
		t.Skip(err)
	}
	f.opt.Root = old
	f.tookAlong(old, hash)
}

// A copy is another directory, whether the original is there or not; and so is a new directory at the path of
// another that was removed.
func TestCopiedRoot(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"beside the original", "without the original"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, old, hash := renamedFixture(t)
			f.closeAll()
			f.opened = nil
			f.root = old + "-copy"
			f.opt.Root = f.root
			if err := os.CopyFS(f.root, os.DirFS(old)); err != nil {
				t.Fatal(err)
			}
			if name == "without the original" {
				if err := os.RemoveAll(old); err != nil {
					t.Fatal(err)
				}
			}
			f.hasNoStore(hash)
		})
	}
}

// A directory that took the place of a renamed one owns the store of that path. The renamed one has none.
func TestRenamedRootWhosePlaceIsTaken(t *testing.T) {
	t.Parallel()
	f, old, hash := renamedFixture(t)
	f.moveTo("new")
	if err := os.Mkdir(old, 0o755); err != nil {
		t.Fatal(err)
	}
	f.hasNoStore(hash)
	f.closeAll()
	f.opened = nil
	f.root, f.opt.Root = old, old
	if _, err := f.repo().Lookup(background, hash); err != nil {
		t.Error(err)
	}
}

// A store follows the directory that it captured last: not one that was at its path earlier.
func TestRenamedRootThatWasReplaced(t *testing.T) {
	t.Parallel()
	f, old, hash := renamedFixture(t)
	f.moveTo("first")
	if err := os.Mkdir(old, 0o755); err != nil {
		t.Fatal(err)
	}
	first := f.root
	f.root, f.opt.Root = old, old
	f.trackAll()
	f.moveTo("second")
	second := f.root
	f.root, f.opt.Root = first, first
	f.hasNoStore(hash)
	f.closeAll()
	f.opened = nil
	f.root, f.opt.Root = second, second
	f.tookAlong(old, hash)
}

// Inode numbers count on one machine. A record that cannot be read is none.
func TestRenamedRootOfAnotherMachine(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(identity.Directory) []byte{
		"another host":      func(d identity.Directory) []byte { d.Host += "x"; return encoded(t, d) },
		"another container": func(d identity.Directory) []byte { d.Space += "x"; return encoded(t, d) },
		"another inode":     func(d identity.Directory) []byte { d.Ino++; return encoded(t, d) },
		"another birth":     func(d identity.Directory) []byte { d.Born++; return encoded(t, d) },
		"damaged":           func(identity.Directory) []byte { return []byte("{") },
		"empty":             func(identity.Directory) []byte { return nil },
		"of a later form":   func(identity.Directory) []byte { return []byte(`{"v":2}`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _, hash := renamedFixture(t)
			self, _ := identity.DirectoryAt(f.root)
			where := odb.PrivateIn(f.repo().StoreDir(), odb.PrivateWhere)
			f.moveTo("new")
			if err := os.WriteFile(where, change(self), 0o600); err != nil {
				t.Fatal(err)
			}
			f.hasNoStore(hash)
		})
	}
}

func encoded(t *testing.T, d identity.Directory) []byte {
	data, err := d.Encode()
	if err != nil {
		t.Error(err)
	}
	return data
}

// A store of an earlier release learns its directory from the next capture, and from one that finds nothing new, too.
func TestRenamedRootOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	f, old, hash := renamedFixture(t)
	where := odb.PrivateIn(f.repo().StoreDir(), odb.PrivateWhere)
	f.closeAll()
	f.opened = nil
	if err := os.Remove(where); err != nil {
		t.Fatal(err)
	}
	f.trackAll()
	f.moveTo("new")
	f.tookAlong(old, hash)
}

// An adoption that was interrupted at any point is finished by the next process.
func TestRenamedRootInterrupted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"noted", "recorded"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, old, hash := renamedFixture(t)
			store := f.repo().StoreDir()
			f.moveTo("new")
			gittest.Create(t, store, gittest.Tree{"cairn/moved": gittest.File("1 \"" + filepath.ToSlash(old) + "\"\n")})
			if name == "recorded" {
				if err := os.WriteFile(filepath.Join(store, "cairn", "root"), []byte(f.root), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f.tookAlong(old, hash)
		})
	}
}

// Of processes that open a renamed root at the same time one takes the store along, and all have it.
func TestRenamedRootOpenedAtOnce(t *testing.T) {
	t.Parallel()
	f, _, hash := renamedFixture(t)
	f.moveTo("new")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r, err := cairn.Open(f.opt)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			if _, err := r.Lookup(background, hash); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// A sealed store shows whose it is without its key, names no path, and comes along where Open may open it.
func TestRenamedRootSealed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"by Open", "by Unseal"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, old, hash := renamedFixture(t)
			sealing(t)(&f.opt)
			f.seal()
			f.moveTo("new")
			if _, err := cairn.Open(f.opt); !errors.Is(err, cairn.ErrSealed) {
				t.Fatalf("a sealed store is passed over: %v", err)
			}
			if name == "by Open" {
				f.opt.Unseal = true
			} else if _, err := cairn.Unseal(t.Context(), f.opt, cairn.SealOptions{}); err != nil {
				t.Fatal(err)
			}
			f.tookAlong(old, hash)
		})
	}
}

// A sub-directory of a renamed root that is in no git work tree is a part of it.
func TestFindRootInARenamedRoot(t *testing.T) {
	t.Parallel()
	f, _, _ := renamedFixture(t)
	f.moveTo("new")
	root, err := cairn.FindRootIn(filepath.Join(f.root, "sub"), f.data)
	if err != nil || root != f.root {
		t.Errorf("root %q, %v, want %s", root, err, f.root)
	}
}

// An adoption that Open has carried out already may be asked for once more.
func TestAdoptAfterOpen(t *testing.T) {
	t.Parallel()
	f, old, hash := renamedFixture(t)
	f.moveTo("new")
	f.tookAlong(old, hash)
	if err := cairn.Adopt(background, f.data, old, f.root); err != nil {
		t.Error(err)
	}
	assertError(t, cairn.Adopt(background, f.data, old+"-never", f.root), cairn.ErrNotFound)
}
