package pack

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// bloom is a blocked Bloom filter of object ids: one memory access rules out 99 % of absent
// ids, as long as the filter holds no more ids than it has room for. Ids can be added while
// other goroutines search. None can be removed.
type bloom struct {
	words []atomic.Uint64 // their number is a power of two
	room  int             // ids
}

// bloomBits is how many bits of the filter there are for each id. An id sets up to three
// bits of one word.
const bloomBits = 16

func newBloom(ids int) *bloom {
	words := 1 << bits.Len(uint(max(1, ids*bloomBits/64)-1))
	return &bloom{make([]atomic.Uint64, words), words * 64 / bloomBits}
}

// place returns the word and the bits of an id. It uses the last bytes: the first ones
// are alike in ids that follow each other in an index.
func (f *bloom) place(id []byte) (word *atomic.Uint64, mask uint64) {
	key := binary.LittleEndian.Uint32(id[idSize-4:])
	word = &f.words[binary.LittleEndian.Uint32(id[idSize-8:])&uint32(len(f.words)-1)]
	return word, 1<<(key&63) | 1<<(key>>6&63) | 1<<(key>>12&63)
}

// add adds an id and reports whether mayHave was false before.
func (f *bloom) add(id []byte) bool {
	word, mask := f.place(id)
	return word.Or(mask)&mask != mask
}

func (f *bloom) mayHave(id object.ID) bool {
	word, mask := f.place(id[:])
	return word.Load()&mask == mask
}

// addTo adds the ids of all objects to a filter, and counts the ones that are new to it. It
// reads the ids only, unlike Each, which reads the large offsets of a pack one by one.
func (x *Index) addTo(f *bloom) (added int, err error) {
	const window = 64 << 10 / idSize
	buf := make([]byte, min(x.N, window)*idSize)
	for pos := 0; pos < x.N; pos += window {
		ids, err := x.idsAt(pos, min(window, x.N-pos), buf)
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
