package odb

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

func blobID(text string) object.ID { return object.Sum(object.Blob, []byte(text)) }

func TestIDFilter(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 3, 4, 5, 1000, 5000} {
		f := newIDFilter(n)
		for i := range n {
			id := blobID(fmt.Sprint("there ", i))
			f.add(id[:])
		}
		wrong := 0
		for i := range max(n, 100) {
			if i < n && !f.mayHave(blobID(fmt.Sprint("there ", i))) {
				t.Errorf("%d ids: number %d is denied", n, i)
			}
			if f.mayHave(blobID(fmt.Sprint("absent ", i))) {
				wrong++
			}
		}
		if wrong > 2+max(n, 100)/50 {
			t.Errorf("%d ids: %d of %d others are not ruled out", n, wrong, max(n, 100))
		}
	}
}

// TestFilterOfLargePack: after some searches in vain a large pack is not asked any more
// for what it has not, and still for what it has.
func TestFilterOfLargePack(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	ids := commit(t, db, numbered("large", 0, 6000)...)
	db = reopen(t, db)
	must(t, db.refresh(true))
	for i := range 100 {
		if db.hasPacked(blobID(fmt.Sprint("absent ", i))) {
			t.Fatal("what is absent is found")
		}
	}
	if p := db.packs.Load().packs[0]; p.misses.Load() < 6000/idsASearch || p.misses.Load() > 20 {
		t.Errorf("searched %d times", p.misses.Load())
	}
	for i, id := range ids {
		if !db.hasPacked(id) {
			t.Fatalf("object %d is not found", i)
		}
	}
}

// TestKnownIDs: what a batch is told that the packs have is what a search of each says,
// whoever adds, folds and removes them.
func TestKnownIDs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 2))
	db := newStore(t)
	other := reopen(t, db)
	texts := append(numbered("large", 0, 5000), numbered("not small", 0, fewIDs+1)...)
	commit(t, db, texts[:5000]...)
	commit(t, db, texts[5000:]...)
	away := "" // the stem of a pack that somebody has taken away
	for step := range 300 {
		switch rng.IntN(6) {
		case 0:
			fold(t, []*DB{db, other}[rng.IntN(2)])
		case 1:
			if packs := db.packs.Load().packs; away == "" {
				away = packs[rng.IntN(len(packs))].stem
				must(t, os.Rename(away+idxExt, away+".away"))
			} else {
				must(t, os.Rename(away+".away", away+idxExt))
				away = ""
			}
		case 2:
			added := numbered(fmt.Sprint("by another ", step), 0, 1+rng.IntN(9))
			commit(t, other, added...)
			texts = append(texts, added...)
		default:
			added := numbered(fmt.Sprint("step ", step), 0, 1+rng.IntN(9))
			commit(t, db, added...)
			texts = append(texts, added...)
		}
		must(t, db.refresh(true))
		sameAsSearch(t, db, rng, texts)
	}
}

// sameAsSearch compares hasPacked with a search of all packs, for some of what has been
// written, what is absent, and what was written last.
func sameAsSearch(t *testing.T, db *DB, rng *rand.Rand, texts []string) {
	t.Helper()
	for i := range 60 {
		text := texts[rng.IntN(len(texts))]
		if i < 10 {
			text = texts[max(0, len(texts)-1-i)]
		} else if i%2 == 0 {
			text = "absent " + text
		}
		id := blobID(text)
		db.last.Store(nil)
		want := slices.ContainsFunc(db.packs.Load().packs, func(p *pack) bool { return p.has(id) })
		if got := db.hasPacked(id); got != want {
			t.Fatalf("%q: %v, a search says %v", text, got, want)
		}
	}
}

// TestKnownIDsAreForgotten: the filter is made anew once most of what it has is gone.
func TestKnownIDsAreForgotten(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	kept := commit(t, db, "kept")
	for i := 0; i < 2*filterIDs; i += fewIDs {
		commit(t, db, numbered("gone", i, i+fewIDs)...)
		p := db.packs.Load().packs[0]
		db.hasPacked(blobID("absent"))
		must(t, os.Remove(p.stem+idxExt))
		must(t, db.refresh(true))
		if !db.hasPacked(kept[0]) || db.hasPacked(blobID(fmt.Sprint("gone ", i))) {
			t.Fatalf("after %d: what is there is not found, or what is gone is", i)
		}
		if db.ids.held > db.ids.filter.room || db.ids.filter.room > 2*filterIDs {
			t.Fatalf("the filter has %d ids, and room for %d", db.ids.held, db.ids.filter.room)
		}
	}
}
