package deflate

import (
	"math/bits"
	"slices"
)

const (
	maxSymbols = 288
	maxBits    = 15
)

// code is what a symbol is written as: the bits, the first one lowest, and above
// codeBits their number. 0 = the symbol does not occur.
type code uint32

const codeBits = 16

func (c code) len() uint { return uint(c) >> codeBits }

type codes [maxSymbols]code

// alphabet counts symbols and gives them codes. What is not below its size is not used.
type alphabet struct {
	counts [maxSymbols]uint32
	codes  codes

	order [maxSymbols]uint32 // scratch: what occurs, the rarest first; count and symbol
	tree  [maxSymbols]uint32 // scratch
}

// The count of a symbol is at most that of the bytes in a block, and one for its end.
const symbolBits = 9

// A tree of so many levels would need more symbols than there are in a block: a level
// takes at least as many as the two below it together.
const maxDepth = 32

// build gives a prefix code to each of size symbols that occurs, of at most limit bits.
// If there is only one, it gets one bit.
func (a *alphabet) build(size, limit int) {
	order := a.sorted(size)
	clear(a.codes[:size])
	var lengths [maxDepth]int // how many codes are so long
	switch len(order) {
	case 0:
		return
	case 1:
		lengths[1] = 1
	default:
		a.depths(order, &lengths)
		shorten(&lengths, limit)
	}
	a.assign(size, order, &lengths)
}

// Counts below this are told apart by where they are put.
const rare = 128

// sorted returns what occurs, the rarest first. Most symbols are rare: they are counted
// out, and only the others compared.
func (a *alphabet) sorted(size int) []uint32 {
	var places [rare + 1]uint16 // of each count: where its symbols go; the last = of all others
	n := 0
	for _, count := range a.counts[:size] {
		places[min(count, rare)]++
	}
	for count := 1; count < len(places); count++ {
		places[count], n = uint16(n), n+int(places[count])
	}
	for symbol, count := range a.counts[:size] {
		if count > 0 {
			place := &places[min(count, rare)]
			a.order[*place] = count<<symbolBits | uint32(symbol)
			*place++
		}
	}
	slices.Sort(a.order[places[rare-1]:n])
	return a.order[:n]
}

// depths counts the leaves of Huffman's tree by their depth. The tree is made where the
// weights are, in three passes over them: the first replaces each weight by that of an
// inner node and, when that has a parent, by its place; the second turns these into
// depths; the third counts which places at a depth are left for leaves.
func (a *alphabet) depths(order []uint32, lengths *[maxDepth]int) {
	t := a.tree[:len(order)]
	for i, o := range order {
		t[i] = o >> symbolBits
	}
	leaf, node := 0, 0 // the first ones without a parent
	inner := len(t) - 1
	for next := range inner {
		var weight uint32
		for range 2 { // the two lightest
			if leaf == len(t) || node < next && t[node] < t[leaf] {
				weight += t[node]
				t[node] = uint32(next)
				node++
			} else {
				weight += t[leaf]
				leaf++
			}
		}
		t[next] = weight
	}
	t[inner-1] = 0
	for next := inner - 2; next >= 0; next-- {
		t[next] = t[t[next]] + 1
	}
	places, at := 1, inner-1
	for depth := 0; places > 0; depth++ {
		nodes := 0
		for ; at >= 0 && t[at] == uint32(depth); at-- {
			nodes++
		}
		lengths[depth] = places - nodes
		places = 2 * nodes
	}
}

// shorten makes a code of at most limit bits from another one. What is too long gets the
// limit; for each place that is missing then, the longest code that is shorter gives up
// its own, and takes two of the next length with one of those.
func shorten(lengths *[maxDepth]int, limit int) {
	for depth := limit + 1; depth < maxDepth; depth++ {
		lengths[limit] += lengths[depth]
		lengths[depth] = 0
	}
	over := -(1 << limit)
	for depth := 1; depth <= limit; depth++ {
		over += lengths[depth] << (limit - depth)
	}
	for ; over > 0; over-- {
		depth := limit - 1
		for lengths[depth] == 0 {
			depth--
		}
		lengths[depth]--
		lengths[depth+1] += 2
		lengths[limit]--
	}
}

// assign gives the codes of the format, which follow from their lengths, the longest to
// the rarest symbols.
func (a *alphabet) assign(size int, order []uint32, lengths *[maxDepth]int) {
	var next [maxBits + 2]uint32
	for depth := 1; depth <= maxBits; depth++ {
		next[depth+1] = (next[depth] + uint32(lengths[depth])) << 1
	}
	i := 0
	for depth := maxBits; depth > 0; depth-- {
		for range lengths[depth] {
			a.codes[order[i]&(1<<symbolBits-1)] = code(depth) << codeBits
			i++
		}
	}
	for symbol, c := range a.codes[:size] {
		if depth := c.len(); depth > 0 {
			a.codes[symbol] |= code(bits.Reverse16(uint16(next[depth])) >> (16 - depth))
			next[depth]++
		}
	}
}

// bits is how many the first symbols take in a code.
func (a *alphabet) bits(size int, c *codes) (n int) {
	for symbol, count := range a.counts[:size] {
		n += int(count) * int(c[symbol].len())
	}
	return n
}

// The codes that need no header.
var fixedLengths, fixedDistances = fixedCodes()

func fixedCodes() (lengths, distances codes) {
	for symbol := range lengths {
		switch n := uint16(symbol); {
		case n < 144:
			lengths[symbol] = fixedCode(0x30+n, 8)
		case n < 256:
			lengths[symbol] = fixedCode(0x190+n-144, 9)
		case n < 280:
			lengths[symbol] = fixedCode(n-256, 7)
		default:
			lengths[symbol] = fixedCode(0xc0+n-280, 8)
		}
	}
	for symbol := range distanceCodes {
		distances[symbol] = fixedCode(uint16(symbol), 5)
	}
	return lengths, distances
}

func fixedCode(value uint16, n uint) code {
	return code(n)<<codeBits | code(bits.Reverse16(value)>>(16-n))
}
