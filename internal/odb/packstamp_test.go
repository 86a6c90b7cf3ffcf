package odb

import (
	"os"
	"testing"
)

// provenFine publishes until the file system has been seen to stamp finely.
func provenFine(t *testing.T, db *DB) {
	t.Helper()
	for i := range 50 {
		if db.finely.Load() {
			return
		}
		hurried(t, db, string(rune('a'+i)), "refs/cairn/fine")
	}
	t.Skip("the file system of the temporary directory stamps changes by the ticks of the kernel, or is not known not to")
}

// TestPublishIsNotListed: a change of our own does not have the packs listed again, be it
// of a moment ago.
func TestPublishIsNotListed(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	provenFine(t, db)
	must(t, db.refresh(true))
	for i := range 20 {
		before := db.packs.Load()
		hurried(t, db, "not listed "+string(rune('a'+i)), "refs/cairn/a", "refs/cairn/b")
		after := db.packs.Load()
		must(t, db.refresh(false))
		if db.packs.Load() != after || len(after.packs) != len(before.packs)+1 {
			t.Fatalf("listed again after publish %d", i)
		}
	}
	fsck(t, db)
}

// TestStrangersShowAtOnce: whatever somebody does to the packs right after a publish,
// without the lock, is seen by the next look.
func TestStrangersShowAtOnce(t *testing.T) {
	t.Parallel()
	for name, db := range map[string]*DB{"logged": newLogged(t), "flushed": newStore(t)} {
		t.Run(name, func(t *testing.T) {
			for i := range 100 {
				id := hurried(t, db, "removed "+string(rune('a'+i)), "refs/cairn/a")
				stem := packOf(t, db, id)
				must(t, os.Rename(stem+packExt, stem+".away"))
				must(t, db.refresh(false))
				if db.hasPacked(id) {
					t.Fatalf("pack %d is gone and passes for there", i)
				}
				must(t, os.Rename(stem+".away", stem+packExt))
				must(t, db.refresh(false))
				if !db.hasPacked(id) {
					t.Fatalf("pack %d is back and passes for gone", i)
				}
			}
		})
	}
}

// TestStrangersBeforeAPublish: what was not seen before a publish is not taken for seen
// after it.
func TestStrangersBeforeAPublish(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	provenFine(t, db)
	for i := range 100 {
		id := hurried(t, db, "removed "+string(rune('a'+i)), "refs/cairn/a")
		stem := packOf(t, db, id)
		must(t, db.refresh(false))
		b := db.NewBatch()
		must(t, os.Rename(stem+packExt, stem+".away"))
		putIn(t, b, []byte("meanwhile "+string(rune('a'+i))), "refs/cairn/b")
		must(t, db.refresh(false))
		if db.hasPacked(id) {
			t.Fatalf("pack %d is gone and passes for there", i)
		}
		must(t, os.Rename(stem+".away", stem+packExt))
	}
}
