package odb

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// found is a search of the packs of a set that the filter does not rule out.
func found(f *idsOfPacks, packs []*pack, change uint64, id object.ID) bool {
	for _, p := range f.mayHold(packs, change, id) {
		if p.has(id) {
			return true
		}
		f.missed(p)
	}
	return false
}

// A large pack is not searched for absent ids after some fruitless searches, and is still
// searched for the ids that it has.
func TestFilterOfLargePack(t *testing.T) {
	t.Parallel()
	p, ids := blobPack(t, t.TempDir(), "large", 0, 6000)
	p, packs := newPack(filepath.Dir(p.stem), p.name()), []*pack(nil)
	defer p.close()
	packs = append(packs, p)
	var f idsOfPacks
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
	defer kept.close()
	var f idsOfPacks
	change := uint64(0)
	for i := 0; i < 2*filterIDs; i += fewIDs {
		p, gone := blobPack(t, dir, "gone", i, fewIDs)
		found(&f, []*pack{p, kept}, change+1, blobID("absent"))
		p.close()
		change += 2
		if packs := []*pack{kept}; !found(&f, packs, change, keptIDs[0]) || found(&f, packs, change, gone[0]) {
			t.Fatalf("after %d: what is there is not found, or what is gone is", i)
		}
		if f.held > f.filter.room || f.filter.room > 2*filterIDs {
			t.Fatalf("the filter has %d ids, and room for %d", f.held, f.filter.room)
		}
	}
}
