package pack

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// found is a search of the packs of a set that the filter does not rule out.
func found(f *Filter, packs []*Pack, change uint64, id object.ID) bool {
	for _, p := range f.MayHold(packs, change, id) {
		if p.Has(id) {
			return true
		}
		f.Missed(p)
	}
	return false
}

// A large pack is not searched for absent ids after some fruitless searches, and is still
// searched for the ids that it has.
func TestFilterOfLargePack(t *testing.T) {
	t.Parallel()
	p, ids := blobPack(t, t.TempDir(), "large", 0, 6000)
	p, packs := New(filepath.Dir(p.Stem), p.Name()), []*Pack(nil)
	defer p.Close()
	packs = append(packs, p)
	var f Filter
	for i := range 100 {
		if found(&f, packs, 1, blobID(fmt.Sprint("absent ", i))) {
			t.Fatal("an absent object is found")
		}
	}
	if p.misses.Load() < 6000/idsASearch || p.misses.Load() > 20 {
		t.Errorf("searched %d times", p.misses.Load())
	}
	for i, id := range ids {
		if !found(&f, packs, 1, id) {
			t.Fatalf("object %d is not found", i)
		}
	}
}

// The filter is made again once most of its ids are those of packs that are gone.
func TestFilterForgetsPacks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept, keptIDs := blobPack(t, dir, "kept", 0, 1)
	defer kept.Close()
	var f Filter
	change := uint64(0)
	for i := 0; i < 2*filterIDs; i += fewIDs {
		p, gone := blobPack(t, dir, "gone", i, fewIDs)
		found(&f, []*Pack{p, kept}, change+1, blobID("absent"))
		p.Close()
		change += 2
		if packs := []*Pack{kept}; !found(&f, packs, change, keptIDs[0]) || found(&f, packs, change, gone[0]) {
			t.Fatalf("after %d: a present object is missing, or one that is gone is found", i)
		}
		if f.held > f.filter.room || f.filter.room > 2*filterIDs {
			t.Fatalf("the filter has %d ids, and room for %d", f.held, f.filter.room)
		}
	}
}
