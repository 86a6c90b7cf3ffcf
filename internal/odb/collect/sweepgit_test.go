package collect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// TestV16_OldTemporaryFilesOfGitAreSwept: the files that a killed git left go when they are a day
// old, with a thorough collection or any other. Younger files may belong to a running git.
func TestV16_OldTemporaryFilesOfGitAreSwept(t *testing.T) {
	t.Parallel()
	for name, thorough := range map[string]bool{"gc": false, "thorough": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := odbtest.New(t)
			id := odbtest.Commit(t, db, "kept")[0]
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
			must(t, os.Chtimes(odbtest.Path(db, "objects/tmp_objdir-incoming-AbC123"), old, old))
			young := "objects/tmp_objdir-incoming-young/12"
			leave(t, db, young, old)
			collect(t, db, Options{Thorough: thorough})
			for _, name := range temps {
				wantFile(t, db, name, false)
			}
			for _, name := range temps[:6] {
				wantFile(t, db, name+"-young", true)
			}
			for _, name := range append(precious, young) {
				wantFile(t, db, name, true)
			}
			odbtest.WantBlob(t, odbtest.Reopen(t, db), id, "kept")
		})
	}
}

// TestV16_SweptFilesAreFreed: the files that a killed git left count as freed. A pack that was
// being removed counts nothing: the collection before has counted it.
func TestV16_SweptFilesAreFreed(t *testing.T) {
	t.Parallel()
	db := odbtest.New(t)
	must(t, db.SetRef("refs/cairn/kept", odbtest.Commit(t, db, "kept")[0]))
	old := time.Now().Add(-25 * time.Hour)
	for name, size := range map[string]int64{"objects/pack/tmp_pack_AbC123": 5000, "objects/tmp_objdir-incoming-AbC123/12/34": 700, "objects/pack/" + odb.GonePrefix + "12.pack": 30} {
		leave(t, db, name, old)
		must(t, os.Truncate(odbtest.Path(db, name), size))
		must(t, os.Chtimes(odbtest.Path(db, name), old, old))
	}
	must(t, os.Chtimes(odbtest.Path(db, "objects/tmp_objdir-incoming-AbC123"), old, old))
	leave(t, db, "objects/pack/tmp_pack_young", time.Now())
	if out := collect(t, db, Options{Thorough: true}); out.Freed != 5700 {
		t.Errorf("freed %d bytes, want 5700", out.Freed)
	}
	if out := collect(t, db, Options{Thorough: true}); out.Freed != 0 {
		t.Errorf("freed %d bytes when nothing was left", out.Freed)
	}
}

func leave(t *testing.T, db *odb.DB, name string, when time.Time) {
	t.Helper()
	path := odbtest.Path(db, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte("x"), 0o600))
	must(t, os.Chtimes(path, when, when))
}

func wantFile(t *testing.T, db *odb.DB, name string, want bool) {
	t.Helper()
	_, err := os.Lstat(odbtest.Path(db, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if there := err == nil; there != want {
		t.Errorf("%s is there: %v, want %v", name, there, want)
	}
}

// TestSweepFinishesRemovals: Sweep finishes a removal that a crash interrupted.
func TestSweepFinishesRemovals(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 2)
	l.Fill("refs/cairn/tracks/b", 2)
	gittest.Bare(t, l.Dir(), "", "repack", "-adf")
	l.Forget("refs/cairn/tracks/b")
	name := l.PackNames()[0]
	gone := l.Path("objects/pack/" + odb.GonePrefix + strings.TrimPrefix(name, pack.Prefix))
	collect(t, l.DB, Options{Thorough: true})
	for _, path := range []string{gone, gone + pack.Ext, l.Path("objects/pack/" + name + pack.Ext)} {
		must(t, os.WriteFile(path, []byte("x"), 0o400))
	}
	must(t, l.Sweep())
	odbtest.WantClean(t, l.DB, "swept")
	l.Check(true)
	for _, kept := range l.PackNames() { // one of that name is there again
		must(t, os.WriteFile(l.Path("objects/pack/"+odb.GonePrefix+strings.TrimPrefix(kept, pack.Prefix)), nil, 0o400))
	}
	must(t, l.Sweep())
	odbtest.WantClean(t, l.DB, "swept again")
	l.Check(true)
}
