package odb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// sparesOf lists the temporary files of a store, after whoever makes some is done.
func sparesOf(t *testing.T, db *DB) (paths []string) {
	t.Helper()
	db.spares.busy.Wait()
	for dir, prefix := range map[string]string{packDir: tempPrefix, privateDir: atomicfile.Prefix} {
		names, err := readNames(db.path(dir))
		must(t, err)
		for _, name := range names {
			if strings.HasPrefix(name, prefix) {
				paths = append(paths, db.path(dir, name))
			}
		}
	}
	return paths
}

func identities(t *testing.T, paths ...string) (infos []os.FileInfo) {
	t.Helper()
	for _, path := range paths {
		info, err := os.Stat(path)
		must(t, err)
		infos = append(infos, info)
	}
	return infos
}

// hurried publishes a blob and refs to it as a capture does.
func hurried(t *testing.T, db *DB, content string, refs ...string) object.ID {
	t.Helper()
	b := db.NewBatch()
	b.Hurry()
	return putIn(t, b, []byte(content), refs...)
}

// TestSparesAreUsed: a publish takes the files that were made ahead, another process's
// sweep leaves them alone, and none is left when the store is closed.
func TestSparesAreUsed(t *testing.T) {
	t.Parallel()
	if onWindows {
		t.Skip("open files cannot be renamed on this system")
	}
	for name, db := range map[string]*DB{"logged": newLogged(t), "flushed": newStore(t)} {
		t.Run(name, func(t *testing.T) {
			hurried(t, db, "first", "refs/cairn/a", "refs/cairn/b")
			db.KeepSpares()
			before := identities(t, sparesOf(t, db)...)
			if len(before) != 2*sparesOfEach {
				t.Fatalf("%d spares", len(before))
			}
			must(t, reopen(t, db).Sweep())
			id := hurried(t, db, "second", "refs/cairn/a", "refs/cairn/b")
			pack := packOf(t, db, id)
			for _, now := range identities(t, pack+packExt, pack+idxExt, db.refPath("refs/cairn/a"), db.refPath("refs/cairn/b")) {
				used := false
				for _, spare := range before {
					used = used || os.SameFile(spare, now)
				}
				if !used {
					t.Errorf("%s was none of the spares", now.Name())
				}
			}
			db.KeepSpares()
			if n := len(sparesOf(t, db)); n != 2*sparesOfEach {
				t.Errorf("%d temporary files", n)
			}
			must(t, db.Close())
			noTemps(t, db)
			wantBlob(t, reopen(t, db), id, "second")
		})
	}
}

// packOf is the stem of the pack that holds an object.
func packOf(t *testing.T, db *DB, id object.ID) string {
	t.Helper()
	for _, p := range db.packs.Load().packs {
		if p.has(id) {
			return p.stem
		}
	}
	t.Fatalf("no pack has %s", id)
	return ""
}

// TestSparesThatVanish: a git that prunes removes temporary files, and somebody may put
// others in their place.
func TestSparesThatVanish(t *testing.T) {
	t.Parallel()
	if onWindows {
		t.Skip("open files cannot be removed on this system")
	}
	db := newLogged(t)
	hurried(t, db, "first", "refs/cairn/a")
	db.KeepSpares()
	for i, path := range sparesOf(t, db) {
		must(t, os.Remove(path))
		if i%2 == 0 {
			must(t, os.WriteFile(path, []byte("somebody else's"), 0o600))
		}
	}
	id := hurried(t, db, "second", "refs/cairn/a", "refs/cairn/b")
	must(t, db.Close())
	after := reopen(t, db)
	wantBlob(t, after, id, "second")
	for _, path := range sparesOf(t, after) {
		if got, err := os.ReadFile(path); err != nil || string(got) != "somebody else's" {
			t.Errorf("%s is %q, %v", filepath.Base(path), got, err)
		}
	}
	must(t, after.Sweep())
	noTemps(t, after)
	fsck(t, after)
}

// TestSparesOfOneBatch: what a batch has made ahead and does not need goes with it.
func TestSparesOfOneBatch(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	hurried(t, db, "one ref", "refs/cairn/a")
	noTemps(t, db)
	hurried(t, db, "no ref")
	noTemps(t, db)
	b := db.NewBatch()
	b.Hurry()
	_, err := b.Add(object.Blob, []byte("discarded"))
	must(t, err)
	b.Discard()
	noTemps(t, db)
	b = db.NewBatch()
	b.Hurry()
	_, err = b.Add(object.Blob, []byte("refused"))
	must(t, err)
	if err := b.Commit(RefUpdate{Name: "refs/cairn/a"}); err == nil {
		t.Error("a ref to nothing")
	}
	noTemps(t, db)
	must(t, db.Close())
	db.KeepSpares() // too late
	noTemps(t, db)
}

// TestSparesCannotBeMade: whoever needs one says why.
func TestSparesCannotBeMade(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	hurried(t, db, "first", "refs/cairn/a")
	for _, dir := range []string{packDir, privateDir} {
		must(t, os.Rename(db.path(dir), db.path("elsewhere-"+filepath.Base(dir))))
	}
	db.KeepSpares()
	db.spares.busy.Wait()
	if _, err := db.spares.take(db.path(packDir), tempPrefix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	for _, dir := range []string{packDir, privateDir} {
		must(t, os.Rename(db.path("elsewhere-"+filepath.Base(dir)), db.path(dir)))
	}
	wantBlob(t, db, hurried(t, db, "second", "refs/cairn/a"), "second")
}
