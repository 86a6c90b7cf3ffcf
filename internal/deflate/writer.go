package deflate

import (
	"encoding/binary"
	"slices"
)

// writer appends bits to out. It has room for the word that they are written by.
type writer struct {
	out  []byte
	word uint64 // of which the lowest n bits are not in out yet
	n    uint
}

// room makes room for some bits and a word.
func (w *writer) room(bits int) {
	w.out = slices.Grow(w.out, bits/8+16)
}

// bits adds up to 57 bits since the last flush.
func (w *writer) bits(value uint64, n uint) {
	w.word |= value << (w.n & 63)
	w.n += n
}

func (w *writer) code(c code) { w.bits(uint64(c&(1<<codeBits-1)), c.len()) }

// flush leaves less than 8 bits in the word.
func (w *writer) flush() {
	at := len(w.out)
	binary.LittleEndian.PutUint64(w.out[at:at+8:cap(w.out)], w.word)
	w.out = w.out[:at+int(w.n>>3)]
	w.word >>= w.n &^ 7 & 63
	w.n &= 7
}

// end writes what is left and returns all that was written.
func (w *writer) end() []byte {
	if w.n > 0 {
		w.out = append(w.out, byte(w.word))
	}
	return w.out
}

// blockHead begins a block: stored (0), with fixed codes (1) or with its own (2).
func (w *writer) blockHead(form uint64, last bool) {
	if last {
		w.bits(1, 1)
	} else {
		w.bits(0, 1)
	}
	w.bits(form, 2)
	w.flush()
}

func (w *writer) stored(content []byte, last bool) {
	w.room(8*len(content) + 64)
	w.blockHead(0, last)
	w.n = (w.n + 7) &^ 7
	w.flush()
	w.out = binary.LittleEndian.AppendUint16(w.out, uint16(len(content)))
	w.out = binary.LittleEndian.AppendUint16(w.out, ^uint16(len(content)))
	w.out = append(w.out, content...)
}

// sequences writes all symbols of a block and its end.
func (w *writer) sequences(list []sequence, content []byte, lengths, distances *codes) {
	out := w.out[:cap(w.out)]
	at, word, n := len(w.out), w.word, w.n
	for _, q := range list {
		literals := content[:q.literals]
		content = content[int(q.literals)+int(q.length):]
		for len(literals) >= 3 { // of at most 15 bits each
			a, b, c := lengths[literals[0]], lengths[literals[1]], lengths[literals[2]]
			word |= uint64(a&(1<<codeBits-1)) << (n & 63)
			n += a.len()
			word |= uint64(b&(1<<codeBits-1)) << (n & 63)
			n += b.len()
			word |= uint64(c&(1<<codeBits-1)) << (n & 63)
			n += c.len()
			binary.LittleEndian.PutUint64(out[at:], word)
			at, word, n = at+int(n>>3), word>>(n&^7&63), n&7
			literals = literals[3:]
		}
		for _, l := range literals {
			a := lengths[l]
			word |= uint64(a&(1<<codeBits-1)) << (n & 63)
			n += a.len()
		}
		binary.LittleEndian.PutUint64(out[at:], word)
		at, word, n = at+int(n>>3), word>>(n&^7&63), n&7
		if q.length == 0 {
			break
		}
		symbol := lengthSymbols[uint8(q.length-3)] // a match has at most 48 bits
		a := lengths[firstLength+int(symbol)]
		word |= uint64(a&(1<<codeBits-1)) << (n & 63)
		n += a.len()
		word |= uint64(q.length-3-lengthBases[symbol]) << (n & 63)
		n += uint(lengthExtra[symbol])
		far, extra := distanceSymbol(uint32(q.distance))
		a = distances[far]
		word |= uint64(a&(1<<codeBits-1)) << (n & 63)
		n += a.len()
		word |= uint64(uint32(q.distance-1)&(1<<(extra&31)-1)) << (n & 63)
		n += uint(extra)
		binary.LittleEndian.PutUint64(out[at:], word)
		at, word, n = at+int(n>>3), word>>(n&^7&63), n&7
	}
	w.out, w.word, w.n = out[:at], word, n
	w.code(lengths[endOfBlock])
	w.flush()
}
