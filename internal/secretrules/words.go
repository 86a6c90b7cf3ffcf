package secretrules

import (
	"iter"
	"math"
	"sync"
)

// words searches for several keywords at once, whatever their case: the algorithm of Wu and Manber with
// blocks of two bytes. Of each keyword a part is searched for that is as long as the shortest keyword and
// has few blocks that are common in texts. The search goes on by the shift of the block that it looks at:
// the length of the parts minus one where no part has the block.
type words struct {
	shift  [1 << 16]uint8
	begins [1 << 10]uint64  // a bit for each block: it is the first of a part
	ends   map[uint16][]int // keywords by the last block of their part
	list   []string         // in lower case
	parts  []int            // where the part of each keyword begins
	length int              // of the parts
}

// minWord is the length of the shortest keyword that is worth a search, maxPart that of the longest part.
const (
	minWord = 2
	maxPart = 100
)

// newWords returns nil for an empty list. No keyword is shorter than minWord.
func newWords(list []string) *words {
	if len(list) == 0 {
		return nil
	}
	w := &words{ends: make(map[uint16][]int), list: list, parts: make([]int, len(list)), length: maxPart}
	for _, word := range list {
		w.length = min(w.length, len(word))
	}
	for i := range w.shift {
		w.shift[i] = uint8(w.length - 1)
	}
	for n, word := range list {
		w.parts[n] = rarest(word, w.length)
		part := word[w.parts[n]:][:w.length]
		for i := range w.length - 1 {
			for b := range spellings(part[i], part[i+1]) {
				w.shift[b] = min(w.shift[b], uint8(w.length-2-i))
			}
		}
		for b := range spellings(part[0], part[1]) {
			w.begins[b>>6] |= 1 << (b & 63)
		}
		for b := range spellings(part[w.length-2], part[w.length-1]) {
			w.ends[b] = append(w.ends[b], n)
		}
	}
	return w
}

// common are blocks that are frequent in texts and sources, the most frequent first.
const common = "th he in er an re on at en nd ti es or te ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro " +
	"ic ne ea ra ce li ch ll be ma si om ur ie ns ss pe el tr et fo ge no us la ct di un il ec ex em po pr ta ac " +
	"s_ t_ e_ d_ r_ n_ _s _c _t _p :/ // == --"

// costs has a number for each common block, the largest for the most frequent.
var costs = sync.OnceValue(func() map[uint16]int {
	list := make(map[uint16]int)
	for i := 0; i+1 < len(common); i += 3 {
		list[block(common[i], common[i+1])] = len(common) - i
	}
	return list
})

// rarest returns the place of the part of a word whose blocks are the rarest. The last block counts most,
// because the search stops at each of them.
func rarest(word string, length int) (at int) {
	best, list := math.MaxInt, costs()
	for i := 0; i+length <= len(word); i++ {
		cost := 9 * list[block(word[i+length-2], word[i+length-1])]
		for k := i; k+1 < i+length; k++ {
			cost += list[block(word[k], word[k+1])]
		}
		if cost < best {
			best, at = cost, i
		}
	}
	return at
}

// spellings yields the blocks of two lower-case bytes in all cases, each once.
func spellings(a, b byte) iter.Seq[uint16] {
	return func(yield func(uint16) bool) {
		for _, x := range [...]byte{a, upper(a)} {
			for _, y := range [...]byte{b, upper(b)} {
				if !yield(block(x, y)) {
					return
				}
				if y == upper(b) {
					break
				}
			}
			if x == upper(a) {
				break
			}
		}
	}
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

func block(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 }

// lanes is the number of places at which each looks at once. Each place waits for the shift at the one
// before it, and a processor waits for several at the same time.
const lanes = 4

// each calls f for each place of each keyword, in no order.
func (w *words) each(text []byte, f func(word, at int)) {
	const small = 256 // bytes below which one lane is as fast
	first := w.length - 1
	if len(text) < small {
		w.lane(text, first, len(text), f)
		return
	}
	quarter := len(text) / lanes
	a, b, c, d := first, quarter, 2*quarter, 3*quarter
	for a < quarter && b < 2*quarter && c < 3*quarter && d < len(text) {
		sa, sb := w.shift[blockAt(text, a)], w.shift[blockAt(text, b)]
		sc, sd := w.shift[blockAt(text, c)], w.shift[blockAt(text, d)]
		if sa != 0 && sb != 0 && sc != 0 && sd != 0 {
			a, b, c, d = a+int(sa), b+int(sb), c+int(sc), d+int(sd)
			continue
		}
		a, b, c, d = w.next(text, a, sa, f), w.next(text, b, sb, f), w.next(text, c, sc, f), w.next(text, d, sd, f)
	}
	w.lane(text, a, quarter, f)
	w.lane(text, b, 2*quarter, f)
	w.lane(text, c, 3*quarter, f)
	w.lane(text, d, len(text), f)
}

// lane looks at the places from i up to an end.
func (w *words) lane(text []byte, i, end int, f func(word, at int)) {
	for i < end {
		i = w.next(text, i, w.shift[blockAt(text, i)], f)
	}
}

// next returns the place after i, whose block has a shift.
func (w *words) next(text []byte, i int, shift uint8, f func(word, at int)) int {
	if shift > 0 {
		return i + int(shift)
	}
	start := i - w.length + 1
	if first := blockAt(text, start+1); w.begins[first>>6]&(1<<(first&63)) != 0 {
		w.compare(text, start, blockAt(text, i), f)
	}
	return i + 1
}

// blockAt is the block that ends at i.
func blockAt(text []byte, i int) uint16 { return block(text[i-1], text[i]) }

// compare calls f for the keywords whose part begins at start and ends with a block.
func (w *words) compare(text []byte, start int, last uint16, f func(word, at int)) {
	for _, n := range w.ends[last] {
		if at := start - w.parts[n]; at >= 0 && hasFold(text[at:], w.list[n]) {
			f(n, at)
		}
	}
}

// hasFold reports whether text begins with a word in lower case.
func hasFold(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower(text[i]) != word[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
