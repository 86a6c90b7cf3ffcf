package keep

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// beside links every second loose object of the repository into the object directory of a store, in
// which the vault lies, and returns the directory of the store and how many it has not linked.
func (w *world) beside() (store string, others int) {
	w.t.Helper()
	store = filepath.Join(w.t.TempDir(), "store")
	w.vault = At(filepath.Join(store, "cairn", "kept"), true)
	objects, err := filepath.Glob(filepath.Join(w.dir, ".git", "objects", "??", "*"))
	w.must(err)
	for i, path := range objects {
		if i%2 == 0 {
			others++
			continue
		}
		to := filepath.Join(store, "objects", filepath.Base(filepath.Dir(path)), filepath.Base(path))
		w.must(os.MkdirAll(filepath.Dir(to), 0o700))
		w.must(os.Link(path, to))
	}
	return store, others
}

// TestBeside: what the store around the vault has is linked once, and survives both the repository and
// the store's own use for it.
func TestBeside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store, others := w.beside()
	opt := Options{Beside: filepath.Join(store, "objects")}
	if res := w.keep(w.dir, opt); res.Linked != others || others == 0 {
		t.Fatalf("%+v, %d objects do not lie beside the vault", res, others)
	}
	if res := w.keep(w.dir, opt); res.Linked != 0 {
		t.Errorf("a second time it links %d files", res.Linked)
	}
	w.lose()
	moved := store + " of another name"
	w.must(os.Rename(store, moved))
	w.vault = At(filepath.Join(moved, "cairn", "kept"), true)
	if !w.holds() {
		t.Fatal("git finds not all objects from the vault")
	}
	if !w.vault.Inherits() {
		t.Fatal("the vault does not want what the store drops")
	}
	paths, err := filepath.Glob(filepath.Join(moved, "objects", "??", "*"))
	w.must(err)
	for _, path := range paths {
		if ok, err := w.vault.Inherit(path); !ok || err != nil {
			t.Errorf("%s: %v, %v", path, ok, err)
		}
	}
	w.must(os.RemoveAll(filepath.Join(moved, "objects")))
	if !w.holds() {
		t.Error("the vault lacks an object")
	}
}

// TestInheritTwice: an object that the vault has stays where it is.
func TestInheritTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keep(w.dir, Options{})
	store, _ := w.beside()
	w.vault = At(filepath.Join(store, "cairn", "kept"), true)
	if w.vault.Inherits() {
		t.Error("no vault wants an object")
	}
	w.keep(w.dir, Options{})
	if w.vault.Inherits() {
		t.Error("a vault that has taken everything wants an object")
	}
	paths, err := filepath.Glob(filepath.Join(store, "objects", "??", "*"))
	w.must(err)
	for _, path := range paths {
		ok, err := w.vault.Inherit(path)
		if _, serr := os.Lstat(path); ok || err != nil || serr != nil {
			t.Errorf("%v, %v, %v", ok, err, serr)
		}
	}
}

// TestBesideOtherFormat: ids of SHA-256 are none of a store's.
func TestBesideOtherFormat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "--object-format=sha256")
	store, _ := w.beside()
	w.keep(w.dir, Options{Beside: filepath.Join(store, "objects")})
	w.must(os.RemoveAll(filepath.Join(store, "objects")))
	w.lose()
	if w.vault.Inherits() || !w.holds() {
		t.Error("the vault relies on the store")
	}
}

// TestBesideGoes: what git takes out of the store around the vault, the vault takes from the repository the next
// time, although the repository has not changed.
func TestBesideGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store, _ := w.beside()
	opt := Options{Beside: filepath.Join(store, "objects")}
	w.settle(filepath.Join(w.dir, ".git", "objects"), opt.Beside)
	w.keep(w.dir, opt)
	w.must(os.RemoveAll(opt.Beside))
	if res := w.keep(w.dir, opt); res.Linked == 0 {
		t.Error("nothing is linked")
	}
	w.lose()
	if !w.holds() {
		t.Error("the vault lacks an object")
	}
}

// settle makes the directories of loose objects old.
func (w *world) settle(tops ...string) {
	w.t.Helper()
	for _, top := range tops {
		dirs, err := filepath.Glob(filepath.Join(top, "??"))
		w.must(err)
		for _, dir := range dirs {
			w.must(os.Chtimes(dir, time.Time{}, time.Now().Add(-time.Hour)))
		}
	}
}
