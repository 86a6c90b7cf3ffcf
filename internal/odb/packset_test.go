package odb

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// The newest objects are found without opening the older packs.
func TestNewestPackFirst(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	ids := commitEach(t, db, numbered("blob", 0, 6)...)
	for i, p := range db.packs.Load().packs {
		at := time.Now().Add(-time.Duration(i) * time.Hour)
		must(t, os.Chtimes(p.Stem+pack.IndexExt, at, at))
	}
	for name, db := range map[string]*DB{"as written": db, "as listed": reopen(t, db)} {
		must(t, db.refresh(true))
		set := *db.packs.Load()
		for i, p := range set.packs {
			p.Close()
			set.packs[i] = pack.New(db.path(packDir), p.Name())
		}
		db.packs.Store(&set)
		db.last.Store(nil)
		for back := range ids {
			wantBlob(t, db, ids[len(ids)-1-back], numbered("blob", len(ids)-1-back, len(ids)-back)[0])
			open := 0
			for _, p := range db.packs.Load().packs {
				if p.Opened() {
					open++
				}
			}
			if open != back+1 {
				t.Errorf("%s: %d packs open after the newest %d were read", name, open, back+1)
			}
		}
	}
}

// packOf returns the stem of the pack that has an object.
func packOf(t *testing.T, db *DB, id object.ID) string {
	t.Helper()
	for _, p := range db.packs.Load().packs {
		if p.Has(id) {
			return p.Stem
		}
	}
	t.Fatalf("no pack has %s", id)
	return ""
}

// TestStrangersShowAtOnce: right after a publish, and without the lock, a look-up sees a pack
// that another process moves away or back.
func TestStrangersShowAtOnce(t *testing.T) {
	t.Parallel()
	for name, db := range map[string]*DB{"logged": newLogged(t), "flushed": newStore(t)} {
		t.Run(name, func(t *testing.T) {
			for i := range 50 {
				id := putIn(t, db.NewBatch(), []byte("removed "+string(rune('a'+i))), "refs/cairn/a")
				stem := packOf(t, db, id)
				must(t, os.Rename(stem+pack.Ext, stem+".away"))
				must(t, db.refresh(false))
				if db.hasPacked(id) {
					t.Fatalf("pack %d is gone and passes for there", i)
				}
				must(t, os.Rename(stem+".away", stem+pack.Ext))
				must(t, db.refresh(false))
				if !db.hasPacked(id) {
					t.Fatalf("pack %d is back and passes for gone", i)
				}
			}
		})
	}
}

// TestKnownPacks: the known packs are the packs of the last listing. Before the first listing
// they are listed.
func TestKnownPacks(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	commitEach(t, db, numbered("blob", 0, 3)...)
	names := db.PackNames()
	other := reopen(t, db)
	if got := other.KnownPacks(); len(got) != 3 || !slices.Equal(got, names) {
		t.Errorf("%q before anything was listed, want %q", got, names)
	}
	commit(t, db, "blob 3")
	if got := db.KnownPacks(); len(got) != 4 || !slices.Equal(got, db.PackNames()) {
		t.Errorf("%q, there are %q", got, db.PackNames())
	}
	if got := other.KnownPacks(); !slices.Equal(got, names) {
		t.Errorf("%q, listed were %q", got, names)
	}
}
