package cairn_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// R64: stores of vanished roots are listed, and removed on request.
func TestR64AbandonedStores(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	hash := f.trackAll()
	root, store := f.repo().Root(), f.repo().StoreDir()
	list, err := cairn.Stores(f.data)
	if err != nil || len(list) != 1 || list[0].Root != root || list[0].Missing || list[0].Err != nil || list[0].Size == 0 || list[0].Used.IsZero() {
		t.Fatalf("stores %+v, %v", list, err)
	}
	assertError(t, cairn.RemoveStore(background, f.data, root), cairn.ErrRoot)
	f.closeAll()
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(root, moved); err != nil {
		t.Fatal(err)
	}
	if list, err = cairn.Stores(f.data); err != nil || len(list) != 1 || !list[0].Missing {
		t.Fatalf("stores %+v, %v", list, err)
	}
	// A project that was moved takes its store with it.
	assertError(t, cairn.Adopt(background, f.data, "/never/was", moved), cairn.ErrNotFound)
	if err := cairn.Adopt(background, f.data, root, moved); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(store); err == nil {
		t.Error("the old store is still there")
	}
	f.root, f.opt.Root = moved, moved
	f.write("a", "2")
	f.trackAll()
	f.restoreAll(hash)
	if f.read("a") != "1" {
		t.Errorf("a holds %q", f.read("a"))
	}
	f.sound()
	root = f.repo().Root()
	f.closeAll()
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	if err := cairn.RemoveStore(background, f.data, root); err != nil {
		t.Fatal(err)
	}
	if left := gittest.Manifest(t, filepath.Join(f.data, "snapshot")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	assertError(t, cairn.RemoveStore(background, f.data, root), cairn.ErrNotFound)
}

func TestAdoptRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.trackAll()
	root := f.repo().Root()
	other := t.TempDir()
	assertError(t, cairn.Adopt(background, f.data, root, other), cairn.ErrRoot)
	assertError(t, cairn.Adopt(background, f.data, t.TempDir(), other), cairn.ErrNotFound)
	opt := f.opt
	opt.Root = other
	second, err := cairn.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
	f.closeAll()
	if err := os.Rename(root, root+"-moved"); err != nil {
		t.Fatal(err)
	}
	assertError(t, cairn.Adopt(background, f.data, root, other), cairn.ErrExists)
}

// R96: if a store is removed while a process works with it, that is an error and not an empty
// store.
func TestR96StoreGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "b": gittest.File("2")})
	hash := f.trackAll()
	r := f.repo()
	if err := os.RemoveAll(r.StoreDir()); err != nil {
		t.Fatal(err)
	}
	f.remove("a")
	if _, err := r.Track(background, cairn.TrackOptions{}); err == nil {
		t.Error("track goes on without a store")
	}
	if _, err := r.Restore(background, hash, cairn.RestoreOptions{}); err == nil {
		t.Error("restore goes on without a store")
	}
	if !f.exists("b") || f.exists("a") {
		t.Error("something was changed")
	}
}

// R91: an incomplete store does not count as a store and is listed as broken.
func TestR91HalfStore(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	gittest.Create(t, data, gittest.Tree{"snapshot/0123456789abcdef/objects": gittest.Dir(), "snapshot/.tmp_cairn_1.store/x": gittest.File("")})
	list, err := cairn.Stores(data)
	if err != nil || len(list) != 1 || list[0].Err == nil {
		t.Errorf("stores %+v, %v", list, err)
	}
	if list, err := cairn.Stores(filepath.Join(data, "none")); err != nil || len(list) != 0 {
		t.Errorf("stores %+v, %v", list, err)
	}
}
