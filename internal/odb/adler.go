package odb

import "encoding/binary"

const (
	adlerMod   = 65521
	adlerStep  = 16
	adlerBlock = 256 * adlerStep // what the lanes below can sum up
	everyOther = 0x00ff00ff00ff00ff
	laneSum    = 0x0001000100010001 // times this, the uppermost lane is the sum of all
)

// adlerOver goes on with the Adler-32 checksum sum, 1 at the beginning, over p. It is
// that of hash/adler32, which takes a sixteenth of the time that compressing does, in
// less than half of the time: sixteen bytes at once, in lanes of 16 bits.
func adlerOver(sum uint32, p []byte) uint32 {
	a, b := uint64(sum&0xffff), uint64(sum>>16)
	for len(p) >= adlerStep {
		n := min(len(p), adlerBlock) &^ (adlerStep - 1)
		sums, weighted := adlerSteps(p[:n])
		b = (b + uint64(n)*a + weighted) % adlerMod
		a = (a + sums) % adlerMod
		p = p[n:]
	}
	for _, c := range p {
		a += uint64(c)
		b += a
	}
	return uint32(b%adlerMod)<<16 | uint32(a%adlerMod)
}

// adlerSteps returns the sum of the bytes of whole steps, at most a block of them, and
// the sum of each byte times its distance from the end.
func adlerSteps(p []byte) (sum, weighted uint64) {
	var even, odd, even8, odd8 uint64 // lanes, of the first eight bytes and of the others
	var before uint64                 // the sum, for each step, of what comes before it
	for ; len(p) >= adlerStep; p = p[adlerStep:] {
		x, y := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
		e, o, e8, o8 := x&everyOther, x>>8&everyOther, y&everyOther, y>>8&everyOther
		even += e
		odd += o
		even8 += e8
		odd8 += o8
		before += sum
		sum += (e + o + e8 + o8) * laneSum >> 48
	}
	weighted = adlerStep*before + weigh(even, 16) + weigh(odd, 15) + weigh(even8, 8) + weigh(odd8, 7)
	return sum, weighted
}

// weigh returns the sum of lanes, the lowest taken so many times, the next ones two
// times less often each.
func weigh(lanes, times uint64) (sum uint64) {
	for ; lanes > 0; lanes >>= 16 {
		sum += times * (lanes & 0xffff)
		times -= 2
	}
	return sum
}
