package odb_test

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// noises are large contents.
func noises(seed uint64, n int) (texts []string) {
	for i := range n {
		texts = append(texts, string(gittest.Noise(seed+uint64(i), 40<<10)))
	}
	return texts
}

// spoil damages a copy of contents, in the only pack of a store that is known to have it. It writes a new file.
func spoil(t *testing.T, db *odb.DB, name, contents string) {
	t.Helper()
	file := odbtest.Path(db, "objects/pack/"+name+pack.Ext)
	data := odbtest.Must1(os.ReadFile(file))
	at := bytes.Index(data, []byte(contents[len(contents)-64:])) // noise is stored as it is
	if at < 0 {
		t.Fatalf("%s does not hold the contents as they are", name)
	}
	data[at+5] ^= 0x55
	odbtest.Must(t, os.Remove(file))
	odbtest.Must(t, os.WriteFile(file, data, 0o600))
}

// take takes the packs that hold some objects, as a process that has just opened both stores.
func take(t *testing.T, db, from *odb.DB, ids []object.ID) (taken odb.Taken) {
	t.Helper()
	unlock, err := db.Lock(t.Context())
	odbtest.Must(t, err)
	taken, err = db.TakePacks(odbtest.Reopen(t, from), ids)
	odbtest.Must(t, err)
	odbtest.Must(t, unlock())
	odbtest.Fsck(t, db)
	return taken
}

// TestTakePacks: a pack comes by link, and a second time nothing comes.
func TestTakePacks(t *testing.T) {
	t.Parallel()
	from, db := odbtest.New(t), odbtest.New(t)
	texts := noises(1, 4)
	ids := odbtest.Commit(t, from, texts...)
	if taken := take(t, db, from, ids[:1]); taken.Packs != 0 {
		t.Errorf("%+v for a quarter of the objects", taken)
	}
	if taken := take(t, db, from, ids[:2]); taken.Packs != 1 || taken.Bytes < 160<<10 {
		t.Errorf("%+v", taken)
	}
	odbtest.WantBlob(t, db, ids[3], texts[3])
	if taken := take(t, db, from, ids); taken.Packs != 0 {
		t.Errorf("%+v once more", taken)
	}
}

// TestTakePacksDamaged: a pack with a damaged object does not come, be the object wanted or not: contents
// that are captured here later count as stored.
func TestTakePacksDamaged(t *testing.T) {
	t.Parallel()
	for damaged := range 4 {
		from, db := odbtest.New(t), odbtest.New(t)
		texts := noises(9, 4)
		ids := odbtest.Commit(t, from, texts...)
		spoil(t, from, from.PackNames()[0], texts[damaged])
		if taken := take(t, db, from, ids[:3]); taken.Packs != 0 {
			t.Errorf("object %d: %+v", damaged, taken)
		}
		odbtest.WantBlob(t, db, odbtest.Commit(t, db, texts[damaged])[0], texts[damaged])
	}
}

// TestTakePacksDamagedCopy: an object lies in two packs of the other store, in one of them damaged.
func TestTakePacksDamagedCopy(t *testing.T) {
	t.Parallel()
	texts := noises(20, 2)
	for _, first := range []bool{false, true} {
		from, second, db := odbtest.New(t), odbtest.New(t), odbtest.New(t)
		ids := odbtest.Commit(t, from, texts...)
		names := from.PackNames()
		odbtest.Commit(t, second, texts[0])
		_, _, err := from.TakeAll(second)
		odbtest.Must(t, err)
		bad := names[0]
		if !first {
			bad = slices.DeleteFunc(from.PackNames(), func(name string) bool { return name == bad })[0]
		}
		spoil(t, from, bad, texts[0])
		take(t, db, from, ids)
		for i, id := range odbtest.Commit(t, db, texts...) {
			odbtest.WantBlob(t, db, id, texts[i])
		}
	}
}

// TestTakePacksOfManyStores: the number of linked packs is bounded, because no fold makes one of them. Small
// packs are not linked.
func TestTakePacksOfManyStores(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	from, db := odbtest.New(t), odbtest.New(t)
	ids := make(map[object.ID]bool)
	for i := range 70 {
		for _, id := range odbtest.Commit(t, from, noises(uint64(100+10*i), 2)...) {
			ids[id] = true
		}
	}
	if taken := take(t, db, from, slices.Collect(maps.Keys(ids))); taken.Packs != 64 {
		t.Errorf("%+v", taken)
	}
	small, other := odbtest.New(t), odbtest.New(t)
	if taken := take(t, other, small, odbtest.Commit(t, small, "a", "b", "c")); taken.Packs != 0 {
		t.Errorf("%+v of a small pack", taken)
	}
}
