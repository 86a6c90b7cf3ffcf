package deflate

import "math/bits"

const (
	endOfBlock    = 256
	firstLength   = 257 // symbol of a match of three bytes
	lengthCodes   = 286
	distanceCodes = 30
)

// block is what has been found in a piece of contents.
type block struct {
	sequences [maxBlock/minMatch + 2]sequence
	n         int

	lengths   alphabet // of literals, the end of the block and lengths
	distances alphabet
	header    header
}

func (b *block) begin() {
	b.n = 0
	clear(b.lengths.counts[:])
	clear(b.distances.counts[:])
	b.lengths.counts[endOfBlock] = 1
}

// add adds a sequence.
func (b *block) add(literals []byte, length, distance int) {
	for _, c := range literals {
		b.lengths.counts[c]++
	}
	if length > 0 {
		b.lengths.counts[firstLength+int(lengthSymbols[uint8(length-3)])]++
		symbol, _ := distanceSymbol(uint32(distance))
		b.distances.counts[symbol]++
	}
	b.sequences[b.n] = sequence{uint16(len(literals)), uint16(length), uint16(distance)}
	b.n++
}

// lengthSymbols holds, for the length of a match less three, its symbol less the first;
// lengthBases and lengthExtra what the symbol stands for and how many bits follow it.
var lengthSymbols, lengthBases, lengthExtra = lengthTables()

func lengthTables() (symbols [256]uint8, bases [29]uint16, extra [29]uint8) {
	length := 0
	for symbol := range 28 {
		n := max(0, symbol/4-1)
		bases[symbol], extra[symbol] = uint16(length), uint8(n)
		for range 1 << n {
			symbols[length] = uint8(symbol)
			length++
		}
	}
	symbols[255], bases[28] = 28, 255 // the longest has a symbol of its own
	return symbols, bases, extra
}

// distanceSymbol returns the symbol of a distance and the number of bits that follow
// it. They are the lowest ones of the distance less one.
func distanceSymbol(distance uint32) (symbol, extra uint32) {
	distance--
	if distance < 2 {
		return distance, 0
	}
	n := uint32(bits.Len32(distance)) - 2
	return 2*n + distance>>(n&31), n
}

// write writes the block in the shortest of the three forms.
func (b *block) write(w *writer, content []byte, last bool) {
	b.lengths.build(lengthCodes, maxBits)
	b.distances.build(distanceCodes, maxBits)
	b.header.encode(&b.lengths, &b.distances)
	extra := b.extraBits()
	dynamic := b.header.bits() + b.bits(&b.lengths.codes, &b.distances.codes) + extra
	fixed := b.bits(&fixedLengths, &fixedDistances) + extra
	stored := 8*len(content) + 7 + 32
	switch {
	case stored <= min(dynamic, fixed):
		w.stored(content, last)
	case fixed <= dynamic:
		w.room(fixed)
		w.blockHead(1, last)
		w.sequences(b.sequences[:b.n], content, &fixedLengths, &fixedDistances)
	default:
		w.room(dynamic)
		w.blockHead(2, last)
		b.header.write(w)
		w.sequences(b.sequences[:b.n], content, &b.lengths.codes, &b.distances.codes)
	}
}

// bits is how many all symbols take.
func (b *block) bits(lengths, distances *codes) int {
	return b.lengths.bits(lengthCodes, lengths) + b.distances.bits(distanceCodes, distances)
}

// extraBits is how many bits follow the symbols of the matches.
func (b *block) extraBits() (n int) {
	for symbol, count := range b.lengths.counts[firstLength:][:len(lengthExtra)] {
		n += int(count) * int(lengthExtra[symbol])
	}
	for symbol, count := range b.distances.counts[:distanceCodes] {
		n += int(count) * max(0, symbol/2-1)
	}
	return n
}
