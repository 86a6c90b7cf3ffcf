package odb

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// TestV10_RoomLeavesCleanPacks: a store at its budget makes room again and again, and what
// it copies then costs every track. Only packs with garbage are copied.
func TestV10_RoomLeavesCleanPacks(t *testing.T) {
	t.Parallel()
	l := newLines(t)
	shared := string(prose(7, 3000))
	l.track("refs/cairn/gone", map[string]string{"shared": shared, "own": "dead"})
	l.track("refs/cairn/dead", map[string]string{"other": "dead, too"})
	dirty := l.PackNames()
	l.track("refs/cairn/stays", map[string]string{"shared": shared})
	l.fill("refs/cairn/stays", 12)
	l.forget("refs/cairn/gone")
	l.forget("refs/cairn/dead")
	out := collect(t, l.DB, Collection{Thorough: true, CopyAtOnce: 1 << 20})
	slices.Sort(out.Removed)
	if !slices.Equal(out.Removed, dirty) || len(out.Added) != 1 {
		t.Errorf("removed %v, added %v; want %v to make place for one", out.Removed, out.Added, dirty)
	}
	l.check(true)
	if out := collect(t, l.DB, Collection{Thorough: true}); out.Packs != 1 {
		t.Errorf("a cleaning without hurry leaves %d packs", out.Packs)
	}
}

// TestV10_RoomMergesVeryManyPacks: a store that is only ever cleaned in a hurry has a bounded
// number of packs.
func TestV10_RoomMergesVeryManyPacks(t *testing.T) {
	t.Parallel()
	l := newLines(t)
	l.fill("refs/cairn/stays", maxUnmerged)
	if out := collect(t, l.DB, Collection{Thorough: true, CopyAtOnce: 1 << 20}); out.Packs >= maxUnmerged/2 {
		t.Errorf("%d packs", out.Packs)
	}
	l.check(true)
}

// TestCensusSlot looks up ids inside and outside a census. Many ids share a prefix.
func TestCensusSlot(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 300, 5000} {
		ids := make([]object.ID, n)
		for i := range ids {
			ids[i] = object.Sum(object.Blob, fmt.Append(nil, i))
			if i%2 == 0 {
				copy(ids[i][:], "same")
			}
		}
		slices.SortFunc(ids, func(a, b object.ID) int { return slices.Compare(a[:], b[:]) })
		c := sortedCensus(ids)
		for i, id := range ids {
			if slot, ok := c.slot(id); slot != i || !ok {
				t.Fatalf("of %d: id %d is at %d, %v", n, i, slot, ok)
			}
			id[19]++
			if slot, ok := c.slot(id); ok && ids[slot] != id {
				t.Fatalf("of %d: %s is not at %d", n, id, slot)
			} else if !ok && slices.Contains(ids, id) {
				t.Fatalf("of %d: %s is not found", n, id)
			}
		}
	}
}
