package odb

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// census is the set of the objects that were in the store at one time: 20 bytes an
// object, whatever the number of packs.
type census struct {
	ids    []object.ID // sorted
	fanout [257]int
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
	c := &census{ids: slices.Compact(ids)}
	n = 0
	for b := range 256 {
		for n < len(c.ids) && int(c.ids[n][0]) == b {
			n++
		}
		c.fanout[b+1] = n
	}
	return c, nil
}

// slot returns the place of an object in the census.
func (c *census) slot(id object.ID) (int, bool) {
	lo, hi := c.fanout[id[0]], c.fanout[int(id[0])+1]
	n, ok := slices.BinarySearchFunc(c.ids[lo:hi], id, func(a, b object.ID) int { return bytes.Compare(a[:], b[:]) })
	return lo + n, ok
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
