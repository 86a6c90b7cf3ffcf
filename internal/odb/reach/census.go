package reach

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Census is the set of the objects that were in the store at one time. It takes 21 or 22
// bytes an object, whatever the number of packs. The place of an object in IDs is its slot.
type Census struct {
	IDs []object.ID // sorted

	// starts has the place of the first id of each bucket, and the number of ids. A bucket
	// holds the ids that begin with the same bits, about four: a mark looks up every entry
	// of every tree.
	starts []uint32
	shift  int
}

// NewCensus lists the objects of packs, and the loose ones. A damaged pack and a pack that is
// gone add nothing.
func NewCensus(packs []*pack.Pack, loose []object.ID) (*Census, error) {
	n := len(loose)
	for _, p := range packs {
		if x, err := p.Index(); err == nil {
			n += x.N
		}
	}
	ids := append(make([]object.ID, 0, n), loose...)
	for _, p := range packs {
		x, err := p.Index()
		if err == nil {
			_, err = p.Body()
		}
		if err == nil {
			err = x.Each(func(r pack.Row) { ids = append(ids, r.ID) })
		}
		if err != nil && !errors.Is(err, pack.ErrCorrupt) && !errors.Is(err, pack.ErrGone) {
			return nil, err
		}
	}
	slices.SortFunc(ids, func(a, b object.ID) int { return bytes.Compare(a[:], b[:]) })
	return sortedCensus(slices.Compact(ids)), nil
}

// sortedCensus makes a census of sorted ids.
func sortedCensus(ids []object.ID) *Census {
	width := max(8, bits.Len(uint(len(ids)))-2)
	c := &Census{IDs: ids, starts: make([]uint32, 1<<width+1), shift: 32 - width}
	n := 0
	for b := range 1 << width {
		for n < len(ids) && c.bucket(ids[n]) == b {
			n++
		}
		c.starts[b+1] = uint32(n)
	}
	return c
}

func (c *Census) bucket(id object.ID) int {
	return int(binary.BigEndian.Uint32(id[:4]) >> c.shift)
}

// Slot returns the place of an object in the census, if it is there.
func (c *Census) Slot(id object.ID) (int, bool) {
	b := c.bucket(id)
	lo, hi := int(c.starts[b]), int(c.starts[b+1])
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		switch bytes.Compare(c.IDs[mid][:], id[:]) {
		case 0:
			return mid, true
		case 1:
			hi = mid
		default:
			lo = mid + 1
		}
	}
	return 0, false
}
