package odb

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// TestSmallPublishThatCannotBeWritten: what was promised while its files could not be
// written is taken back. No recovery does it, and what comes next works.
func TestSmallPublishThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/store"
	db := openLogged(t, dir, 1)
	first := put(t, db, []byte("first"), "refs/cairn/a")
	b := db.NewBatch()
	defer b.Discard()
	lost, err := b.Add(object.Blob, []byte("lost"))
	must(t, err)
	must(t, os.Rename(db.path(packDir), db.path("elsewhere")))
	if err := b.Commit(RefUpdate{"refs/cairn/a", lost}, RefUpdate{"refs/cairn/b", lost}); err == nil {
		t.Error("written into a directory that is not there")
	}
	must(t, os.Rename(db.path("elsewhere"), db.path(packDir)))
	if n := len(logged(t, db)); n > 0 {
		t.Errorf("%d records", n)
	}
	second := put(t, db, []byte("second"), "refs/cairn/c")
	must(t, db.Close())
	after := openLogged(t, dir, 2)
	for name, want := range map[string]object.ID{"refs/cairn/a": first, "refs/cairn/b": {}, "refs/cairn/c": second} {
		if id, err := after.refNow(name); err != nil || id != want {
			t.Errorf("%s is %s, %v", name, id, err)
		}
	}
	noTemps(t, after)
	fsck(t, after)
}

// TestSmallPublishKeepsToItsLimit: bytes that are not allowed are neither promised nor
// written.
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

// TestAroundTheSizeOfARecord: packs on both sides of what fits into a record survive a
// loss of power.
func TestAroundTheSizeOfARecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/store"
	db := openLogged(t, dir, 1)
	put(t, db, []byte("first"), "refs/cairn/a")
	contents := make(map[object.ID][]byte)
	held, not := 0, 0
	for size := redoMax - 1500; size < redoMax; size += 50 {
		content := noise(uint64(size), size)
		id := put(t, db, content, "refs/cairn/a")
		contents[id] = content
		records := logged(t, db)
		if last := records[len(records)-1]; len(last.pack) > 0 {
			held++
		} else {
			not++
		}
	}
	if held == 0 || not == 0 {
		t.Fatalf("%d packs are in records, %d are not", held, not)
	}
	for _, rec := range logged(t, db) {
		if len(rec.pack) > 0 {
			must(t, os.WriteFile(newPack(db.path(packDir), rec.name).stem+packExt, nil, 0o600))
		}
	}
	must(t, db.Close())
	after := openLogged(t, dir, 2)
	for id, content := range contents {
		wantBlob(t, after, id, string(content))
	}
}
