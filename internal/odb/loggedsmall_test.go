package odb

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/redo"
)

// TestSmallPublishThatFails: files that cannot be written get no record, and the record of files
// that cannot get their names is taken back. No replay carries it out, and the next publish
// works.
func TestSmallPublishThatFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hinder, clear func(t *testing.T, db *DB)
		promised      bool
	}{
		"no directory": {
			hinder: func(t *testing.T, db *DB) { must(t, os.Rename(db.path(packDir), db.path("elsewhere"))) },
			clear:  func(t *testing.T, db *DB) { must(t, os.Rename(db.path("elsewhere"), db.path(packDir))) },
		},
		"the name is taken": {
			hinder: func(t *testing.T, db *DB) { must(t, os.MkdirAll(nextPack(t, db)+"/full", 0o700)) },
			clear:  func(t *testing.T, db *DB) { must(t, os.RemoveAll(nextPack(t, db))) },

			promised: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir() + "/store"
			db := openLogged(t, dir, 1)
			first := put(t, db, []byte("first"), "refs/cairn/a")
			b := db.NewBatch()
			defer b.Discard()
			lost, err := b.Add(object.Blob, []byte("lost"))
			must(t, err)
			c.hinder(t, db)
			if err := b.Commit(RefUpdate{"refs/cairn/a", lost}, RefUpdate{"refs/cairn/b", lost}); err == nil {
				t.Error("published")
			}
			c.clear(t, db)
			if n := len(logged(t, db)); c.promised && n > 0 || !c.promised && n != 1 {
				t.Errorf("%d records", n)
			}
			second := put(t, db, []byte("second"), "refs/cairn/c")
			must(t, db.Close())
			after := openLogged(t, dir, 2)
			for name, want := range map[string]object.ID{"refs/cairn/a": first, "refs/cairn/b": {}, "refs/cairn/c": second} {
				if id, err := after.refValue(name); err != nil || id != want {
					t.Errorf("%s is %s, %v", name, id, err)
				}
			}
			noTemps(t, after)
			fsck(t, after)
		})
	}
}

// nextPack returns the path of a pack with nothing but the contents "lost".
func nextPack(t *testing.T, db *DB) string {
	other := newLogged(t)
	put(t, other, []byte("lost"), "refs/cairn/a")
	return db.path(packDir, other.PackNames()[0]) + pack.Ext
}

// TestSmallPublishKeepsToItsLimit: bytes that are refused are neither logged nor written.
func TestSmallPublishKeepsToItsLimit(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	put(t, db, []byte("first"), "refs/cairn/a")
	n := len(logged(t, db))
	b := db.NewBatch()
	defer b.Discard()
	b.Limit(func(int64) error { return os.ErrPermission })
	id, err := b.Add(object.Blob, []byte("refused"))
	must(t, err)
	if err := b.Commit(RefUpdate{"refs/cairn/a", id}); err == nil {
		t.Error("published")
	}
	if m := len(logged(t, db)); m != n {
		t.Errorf("%d records, before %d", m, n)
	}
	noTemps(t, db)
}

// TestAroundTheSizeOfARecord: packs on both sides of the size of a record survive a loss of
// power.
func TestAroundTheSizeOfARecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/store"
	db := openLogged(t, dir, 1)
	put(t, db, []byte("first"), "refs/cairn/a")
	contents := make(map[object.ID][]byte)
	held, not := 0, 0
	for size := redo.MaxRecord - 1500; size < redo.MaxRecord; size += 50 {
		content := noise(uint64(size), size)
		id := put(t, db, content, "refs/cairn/a")
		contents[id] = content
		records := logged(t, db)
		if last := records[len(records)-1]; len(last.Pack) > 0 {
			held++
		} else {
			not++
		}
	}
	if held == 0 || not == 0 {
		t.Fatalf("%d packs are in records, %d are not", held, not)
	}
	for _, rec := range logged(t, db) {
		if len(rec.Pack) > 0 {
			must(t, os.WriteFile(pack.New(db.path(packDir), rec.Name).Stem+pack.Ext, nil, 0o600))
		}
	}
	must(t, db.Close())
	after := openLogged(t, dir, 2)
	for id, content := range contents {
		wantBlob(t, after, id, string(content))
	}
}
