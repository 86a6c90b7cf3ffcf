package odb

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

func blobID(text string) object.ID { return object.Sum(object.Blob, []byte(text)) }

// TestKnownIDs: a batch gets the same answer as a search of each pack, beside
// all processes that add, fold and remove them.
func TestKnownIDs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 2))
	db := newStore(t)
	other := reopen(t, db)
	texts := append(numbered("large", 0, 5000), numbered("not small", 0, 1<<10+1)...)
	commit(t, db, texts[:5000]...)
	commit(t, db, texts[5000:]...)
	away := "" // the stem of a pack that the test has removed
	for step := range 300 {
		switch rng.IntN(6) {
		case 0:
			fold(t, []*DB{db, other}[rng.IntN(2)])
		case 1:
			if packs := db.packs.Load().packs; away == "" {
				away = packs[rng.IntN(len(packs))].Stem
				must(t, os.Rename(away+pack.IndexExt, away+".away"))
			} else {
				must(t, os.Rename(away+".away", away+pack.IndexExt))
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

// sameAsSearch compares hasPacked with a search of all packs, for some written objects, absent
// objects and the newest object.
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
		want := slices.ContainsFunc(db.packs.Load().packs, func(p *pack.Pack) bool { return p.Has(id) })
		if got := db.hasPacked(id); got != want {
			t.Fatalf("%q: %v, a search says %v", text, got, want)
		}
	}
}
