package reach

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

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
			if slot, ok := c.Slot(id); slot != i || !ok {
				t.Fatalf("of %d: id %d is at %d, %v", n, i, slot, ok)
			}
			id[19]++
			if slot, ok := c.Slot(id); ok && ids[slot] != id {
				t.Fatalf("of %d: %s is not at %d", n, id, slot)
			} else if !ok && slices.Contains(ids, id) {
				t.Fatalf("of %d: %s is not found", n, id)
			}
		}
	}
}
