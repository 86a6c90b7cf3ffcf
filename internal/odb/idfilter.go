package odb

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// idFilter tells of most ids that are not in a set that they are not, with one look at
// memory. Of those that it knows nothing against, one in sixteen is not there either as
// long as no more have been added than it was made for. Ids can be added, also while
// others ask; none can be taken out.
type idFilter struct {
	words []atomic.Uint64 // their number is a power of two
}

const filterBits = 16 // of an id

func newIDFilter(ids int) *idFilter {
	n := max(1, ids*filterBits/64)
	return &idFilter{make([]atomic.Uint64, 1<<bits.Len(uint(n-1)))}
}

// bit goes by bytes that no order by id, and no fan-out, goes by.
func (f *idFilter) bit(id []byte) (word *atomic.Uint64, mask uint64) {
	key := binary.LittleEndian.Uint64(id[idSize-8:])
	return &f.words[key>>6&uint64(len(f.words)-1)], 1 << (key & 63)
}

func (f *idFilter) add(id []byte) {
	word, mask := f.bit(id)
	word.Or(mask)
}

func (f *idFilter) mayHave(id object.ID) bool {
	word, mask := f.bit(id[:])
	return word.Load()&mask != 0
}

// filterAfter is after how many searches in vain an index that is not in memory gets a
// filter: one takes a system call, and making the filter as much for so many ids.
const filterAfter = 1024

// lacks reports whether the filter, if there is one, says that the pack lacks an object.
func (x *index) lacks(id object.ID) bool {
	f := x.filter.Load()
	return f != nil && !f.mayHave(id)
}

// missed counts a search in vain.
func (x *index) missed() {
	if x.data != nil || x.filter.Load() != nil || x.misses.Add(1) != int64(x.n/filterAfter+1) {
		return
	}
	f := newIDFilter(x.n)
	if err := x.addIDs(f); err == nil {
		x.filter.Store(f)
	}
}

// addIDs adds the ids of all objects.
func (x *index) addIDs(f *idFilter) error {
	const window = 64 << 10 / idSize
	buf := make([]byte, min(x.n, window)*idSize)
	for pos := 0; pos < x.n; pos += window {
		ids, err := x.idsAt(pos, min(window, x.n-pos), buf)
		if err != nil {
			return err
		}
		for ; len(ids) > 0; ids = ids[idSize:] {
			f.add(ids[:idSize])
		}
	}
	return nil
}
