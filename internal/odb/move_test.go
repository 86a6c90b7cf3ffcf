package odb

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMoveThatFails: a store that cannot be renamed stays that of its root, however often that is tried, and moves
// when it can be. A file stands for what keeps it from being renamed, as a lower layer of overlayfs does.
func TestMoveThatFails(t *testing.T) {
	t.Parallel()
	for _, interrupted := range []bool{false, true} {
		parent := t.TempDir()
		before, after := filepath.Join(parent, "before"), filepath.Join(parent, "after")
		dir, to := filepath.Join(parent, ProjectID(before)), filepath.Join(parent, ProjectID(after))
		db, err := Create(dir, before, Options{NoSync: true})
		must(t, err)
		if interrupted {
			must(t, db.noteMoved(after))
			must(t, writeFile(db.path(rootFile), []byte(after), false))
		}
		must(t, db.Close())
		for range 3 {
			if err := Move(t.Context(), dir, filepath.Join(parent, "absent", ProjectID(after)), after, Options{NoSync: true}); err == nil {
				t.Fatal("moved into a directory that is not there")
			}
			db, err := Open(dir, before, Options{})
			must(t, err)
			list, err := db.MovedRoots()
			if len(list) > 1 || !interrupted && len(list) > 0 {
				t.Errorf("former roots: %v, %v", list, err)
			}
			must(t, db.Close())
		}
		must(t, Move(t.Context(), dir, to, after, Options{NoSync: true}))
		db, err = Open(to, after, Options{})
		must(t, err)
		if !WasAt(to, before) {
			t.Error("the former root is not known")
		}
		must(t, db.Close())
		if _, err := os.Lstat(dir); err == nil {
			t.Error("the store is there twice")
		}
	}
}
