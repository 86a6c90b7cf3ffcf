package odb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestV16_OldTemporaryFilesOfGitAreSwept: what a killed git left goes when it is a day old,
// with a thorough collection or any other. Younger files may belong to a git at work.
func TestV16_OldTemporaryFilesOfGitAreSwept(t *testing.T) {
	t.Parallel()
	for name, thorough := range map[string]bool{"gc": false, "thorough": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newStore(t)
			id := commit(t, db, "kept")[0]
			must(t, db.SetRef("refs/cairn/kept", id))
			temps := []string{
				"objects/pack/tmp_pack_AbC123", "objects/pack/tmp_idx_AbC123", "objects/pack/tmp_rev_AbC123", "objects/pack/.tmp-42-pack-12.pack",
				"objects/tmp_obj_AbC123", "objects/ab/tmp_obj_AbC123", "objects/tmp_objdir-incoming-AbC123/12/34",
			}
			precious := []string{"objects/pack/precious", "objects/ab/precious", "objects/tmp/precious"}
			old := time.Now().Add(-25 * time.Hour)
			for _, name := range append(temps, precious...) {
				leave(t, db, name, old)
				leave(t, db, name+"-young", time.Now().Add(-23*time.Hour))
			}
			must(t, os.Chtimes(db.path("objects", "tmp_objdir-incoming-AbC123"), old, old))
			young := "objects/tmp_objdir-incoming-young/12"
			leave(t, db, young, old)
			collect(t, db, Collection{Thorough: thorough})
			for _, name := range temps {
				wantFile(t, db, name, false)
			}
			for _, name := range temps[:6] {
				wantFile(t, db, name+"-young", true)
			}
			for _, name := range append(precious, young) {
				wantFile(t, db, name, true)
			}
			wantBlob(t, reopen(t, db), id, "kept")
		})
	}
}

// TestV16_SweptFilesAreFreed: what a killed git left counts as freed. A pack that was being
// removed counts for nothing: the collection before has counted it.
func TestV16_SweptFilesAreFreed(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	must(t, db.SetRef("refs/cairn/kept", commit(t, db, "kept")[0]))
	old := time.Now().Add(-25 * time.Hour)
	for name, size := range map[string]int64{"objects/pack/tmp_pack_AbC123": 5000, "objects/tmp_objdir-incoming-AbC123/12/34": 700, "objects/pack/" + gonePrefix + "12.pack": 30} {
		leave(t, db, name, old)
		must(t, os.Truncate(db.path(filepath.FromSlash(name)), size))
		must(t, os.Chtimes(db.path(filepath.FromSlash(name)), old, old))
	}
	must(t, os.Chtimes(db.path("objects", "tmp_objdir-incoming-AbC123"), old, old))
	leave(t, db, "objects/pack/tmp_pack_young", time.Now())
	if out := collect(t, db, Collection{Thorough: true}); out.Freed != 5700 {
		t.Errorf("freed %d bytes, want 5700", out.Freed)
	}
	if out := collect(t, db, Collection{Thorough: true}); out.Freed != 0 {
		t.Errorf("freed %d bytes when nothing was left", out.Freed)
	}
}

func leave(t *testing.T, db *DB, name string, when time.Time) {
	t.Helper()
	path := db.path(filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte("x"), 0o600))
	must(t, os.Chtimes(path, when, when))
}

func wantFile(t *testing.T, db *DB, name string, want bool) {
	t.Helper()
	_, err := os.Lstat(db.path(filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if there := err == nil; there != want {
		t.Errorf("%s is there: %v, want %v", name, there, want)
	}
}
