package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/bits"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// census is the set of the objects that were in the store at one time: 21 or 22 bytes an
// object, whatever the number of packs.
type census struct {
	ids []object.ID // sorted

	// starts has the place of the first id of each bucket, and the number of ids. A bucket
	// holds the ids that begin with the same bits, about four: a mark looks up every entry
	// of every tree.
	starts []uint32
	shift  int
}

// newCensus lists the objects of packs and of files of their own. Packs that cannot
// be used count for nothing.
func newCensus(packs []*pack.Pack, loose []object.ID) (*census, error) {
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

func sortedCensus(ids []object.ID) *census {
	width := max(8, bits.Len(uint(len(ids)))-2)
	c := &census{ids: ids, starts: make([]uint32, 1<<width+1), shift: 32 - width}
	n := 0
	for b := range 1 << width {
		for n < len(ids) && c.bucket(ids[n]) == b {
			n++
		}
		c.starts[b+1] = uint32(n)
	}
	return c
}

func (c *census) bucket(id object.ID) int {
	return int(binary.BigEndian.Uint32(id[:4]) >> c.shift)
}

// slot returns the place of an object in the census, if it is there.
func (c *census) slot(id object.ID) (int, bool) {
	b := c.bucket(id)
	lo, hi := int(c.starts[b]), int(c.starts[b+1])
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		switch bytes.Compare(c.ids[mid][:], id[:]) {
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

// allLoose lists the objects that are files of their own.
func (db *DB) allLoose() ([]object.ID, error) {
	var ids []object.ID
	for b, present := range db.listLooseDirs() {
		if !present {
			continue
		}
		prefix := object.ID{byte(b)}.String()[:2]
		err := db.loosePrefix(prefix, func(id object.ID) { ids = append(ids, id) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return ids, nil
}

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (s bitset) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// set reports whether i was not in the set yet.
func (s bitset) set(i int) bool {
	if s.has(i) {
		return false
	}
	s[i/64] |= 1 << (i % 64)
	return true
}
