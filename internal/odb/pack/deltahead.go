package pack

// A delta begins with two sizes, and inflaters have no way to decode so little: they fill a window, which is most of
// a delta. What follows decodes the few literals at the beginning of a zlib stream (RFC 1950, RFC 1951), in a tenth of
// the time.

// maxDeltaHead is the length of two sizes of up to ten bytes.
const maxDeltaHead = 20

// ZlibReach is a number of bytes of a zlib stream that hold a description of its codes and some literals, nearly
// always.
const ZlibReach = 288

// resultSizeIn returns the size of the object that a delta makes. z is the beginning of the deflated delta. ok is
// false if the sizes are not among the literals at its beginning, or z is too short or nonsense. The checksum and the
// rest of the stream are not looked at.
func resultSizeIn(z []byte) (size int64, ok bool) {
	var buf [maxDeltaHead]byte
	_, rest, err := deltaSize(LeadingLiterals(buf[:0], z))
	if err != nil {
		return 0, false
	}
	size, _, err = deltaSize(rest)
	return size, err == nil
}

// LeadingLiterals appends the literals at the beginning of a zlib stream to dst, up to its capacity. It stops at the
// first repetition, at the end of the first block, and at the end of z.
func LeadingLiterals(dst, z []byte) []byte {
	if len(z) < 3 || z[0]&0x8f != 8 || z[1]&32 != 0 || (uint(z[0])<<8|uint(z[1]))%31 != 0 {
		return dst
	}
	b := bitReader{src: z[2:]}
	b.bits(1) // whether it is the last block
	switch b.bits(2) {
	case 0:
		return stored(dst, z[3:]) // at the next byte
	case 1:
		return b.literals(dst, &fixedCode)
	case 2:
		if code, ok := b.literalCode(); ok {
			return b.literals(dst, &code)
		}
	}
	return dst
}

// stored appends the bytes of a block that is not compressed.
func stored(dst, block []byte) []byte {
	if len(block) < 4 {
		return dst
	}
	n, inverse := int(block[0])|int(block[1])<<8, int(block[2])|int(block[3])<<8
	if n^inverse != 0xffff {
		return dst
	}
	return append(dst, block[4:][:min(n, len(block)-4, cap(dst)-len(dst))]...)
}

// bitReader reads bits from the lowest of each byte on. ended is set when more is asked for than there is.
type bitReader struct {
	src   []byte
	acc   uint64
	n     int // bits in acc
	ended bool
}

// fill makes sure that acc has at least 56 bits, unless src ends before.
func (b *bitReader) fill() {
	for b.n <= 56 && len(b.src) > 0 {
		b.acc |= uint64(b.src[0]) << b.n
		b.src, b.n = b.src[1:], b.n+8
	}
}

// take drops bits that were looked at.
func (b *bitReader) take(n int) {
	b.ended = b.ended || n > b.n
	b.acc, b.n = b.acc>>n, max(0, b.n-n)
}

// bits returns the next bits as a number whose lowest bit came first.
func (b *bitReader) bits(n int) int {
	b.fill()
	value := int(b.acc & (1<<n - 1))
	b.take(n)
	return value
}

// literals appends literals until there is something else, or an end.
func (b *bitReader) literals(dst []byte, code *prefixCode) []byte {
	for len(dst) < cap(dst) {
		symbol := code.next(b)
		if b.ended || symbol < 0 || symbol > 255 {
			break
		}
		dst = append(dst, byte(symbol))
	}
	return dst
}

// The numbers of symbols of the codes: literals and lengths, distances, lengths of codes.
const (
	mostLiterals  = 288
	mostDistances = 32
	mostLengths   = 19
)

// lengthOrder is the order in which the lengths of the code for lengths are stored.
var lengthOrder = [mostLengths]byte{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// literalCode reads the description of the codes of a block, and returns that for literals and lengths.
func (b *bitReader) literalCode() (code prefixCode, ok bool) {
	literals, distances, lengths := 257+b.bits(5), 1+b.bits(5), 4+b.bits(4)
	if literals > mostLiterals {
		return code, false
	}
	var of [mostLengths]byte
	for _, symbol := range lengthOrder[:lengths] {
		of[symbol] = byte(b.bits(3))
	}
	var list [mostLiterals + mostDistances]byte
	if !code.build(of[:]) || !b.codeLengths(&code, list[:literals+distances]) {
		return code, false
	}
	return code, code.build(list[:literals])
}

// codeLengths reads lengths of codes, which are stored with a code of their own.
func (b *bitReader) codeLengths(code *prefixCode, list []byte) (ok bool) {
	for at := 0; at < len(list); {
		symbol, length, times := code.next(b), byte(0), 1
		switch {
		case b.ended || symbol < 0:
			return false
		case symbol < 16:
			length = byte(symbol)
		case symbol == 16 && at == 0:
			return false
		case symbol == 16:
			length, times = list[at-1], 3+b.bits(2)
		case symbol == 17:
			times = 3 + b.bits(3)
		default:
			times = 11 + b.bits(7)
		}
		if times > len(list)-at {
			return false
		}
		for range times {
			list[at], at = length, at+1
		}
	}
	return !b.ended
}

// longestCode is the most bits that a code of deflate has.
const longestCode = 15

// prefixCode is a canonical Huffman code: codes of one length are consecutive numbers in the order of their symbols.
type prefixCode struct {
	count   [longestCode + 1]uint16 // of codes of each length
	symbols [mostLiterals]uint16    // by length, then by number
}

// build makes the code from the length of the code of each symbol; 0 = the symbol has none. ok is false if there are
// more codes than fit.
func (c *prefixCode) build(lengths []byte) (ok bool) {
	clear(c.count[:])
	for _, n := range lengths {
		c.count[n]++
	}
	c.count[0] = 0
	var next [longestCode + 1]uint16 // position in symbols
	left := 1
	for n := 1; n <= longestCode; n++ {
		if left = left<<1 - int(c.count[n]); left < 0 {
			return false
		}
		next[n] = next[n-1] + c.count[n-1]
	}
	for symbol, n := range lengths {
		if n > 0 {
			c.symbols[next[n]] = uint16(symbol)
			next[n]++
		}
	}
	return true
}

// next reads one symbol, -1 if no code begins like that.
func (c *prefixCode) next(b *bitReader) int {
	b.fill()
	code, first, at := 0, 0, 0
	for i, count := range c.count[1:] {
		code |= int(b.acc >> i & 1)
		if code-first < int(count) {
			b.take(i + 1)
			return int(c.symbols[at+code-first])
		}
		at += int(count)
		first = (first + int(count)) << 1
		code <<= 1
	}
	return -1
}

// fixedCode is the code for literals and lengths of blocks that describe none.
var fixedCode = func() (code prefixCode) {
	var lengths [mostLiterals]byte
	for i := range lengths {
		switch {
		case i < 144 || i >= 280:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		default:
			lengths[i] = 7
		}
	}
	code.build(lengths[:])
	return code
}()
