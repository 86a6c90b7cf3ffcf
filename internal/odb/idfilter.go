package odb

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// idFilter tells of most ids that are not in a set that they are not, with one look at
// memory. Of others it rules out all but one in a hundred, as long as it holds no more ids
// than it has room for. Ids can be added, also while others ask; none can be taken out.
type idFilter struct {
	words []atomic.Uint64 // their number is a power of two
	room  int
}

// filterBits is the room of an id. Three bits of a word are its own.
const filterBits = 16

func newIDFilter(ids int) *idFilter {
	words := 1 << bits.Len(uint(max(1, ids*filterBits/64)-1))
	return &idFilter{make([]atomic.Uint64, words), words * 64 / filterBits}
}

// place goes by bytes that no order by id, and no fan-out, goes by.
func (f *idFilter) place(id []byte) (word *atomic.Uint64, mask uint64) {
	key := binary.LittleEndian.Uint32(id[idSize-4:])
	word = &f.words[binary.LittleEndian.Uint32(id[idSize-8:])&uint32(len(f.words)-1)]
	return word, 1<<(key&63) | 1<<(key>>6&63) | 1<<(key>>12&63)
}

// add reports whether the filter did not seem to have the id.
func (f *idFilter) add(id []byte) bool {
	word, mask := f.place(id)
	return word.Or(mask)&mask != mask
}

func (f *idFilter) mayHave(id object.ID) bool {
	word, mask := f.place(id[:])
	return word.Load()&mask == mask
}

// addTo adds the ids of all objects to a filter, and counts those that it did not have. It
// reads nothing else, unlike each, which in a large pack reads offsets one by one.
func (x *index) addTo(f *idFilter) (added int, err error) {
	const window = 64 << 10 / idSize
	buf := make([]byte, min(x.n, window)*idSize)
	for pos := 0; pos < x.n; pos += window {
		ids, err := x.idsAt(pos, min(window, x.n-pos), buf)
		if err != nil {
			return added, err
		}
		for ; len(ids) > 0; ids = ids[idSize:] {
			if f.add(ids[:idSize]) {
				added++
			}
		}
	}
	return added, nil
}
