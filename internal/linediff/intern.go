package linediff

import (
	"bytes"
	"hash/maphash"
)

// classes numbers the distinct lines of the differing middles of two texts from 0 and counts how
// often each occurs on either side. The hash gets a new seed for each comparison, so that no input
// can aim at its collisions.
type classes struct {
	a, b     text
	seed     maphash.Seed
	slots    []int32  // class + 1, open addressing, a power of two
	hash     []uint32 // of each class, so that most unequal lines are not compared
	sample   []int32  // a line of each class: i in a, or ^i in b
	inA, inB []int32
}

// newClasses makes room for as many classes as there are lines.
func newClasses(a, b text, lines int) *classes {
	size := 16
	for size < lines+lines/2 {
		size *= 2
	}
	// One allocation for the rest: growing would cost more than the room saved.
	room := make([]int32, 3*lines)
	return &classes{
		a: a, b: b, seed: maphash.MakeSeed(), slots: make([]int32, size), hash: make([]uint32, 0, lines),
		sample: room[:0:lines], inA: room[lines : lines : 2*lines], inB: room[2*lines : 2*lines],
	}
}

// lookup returns the class of the line, or -1 and the free slot where it belongs.
func (c *classes) lookup(line []byte, hash uint64) (class int32, slot int) {
	mask := len(c.slots) - 1
	for slot = int(hash) & mask; ; slot = (slot + 1) & mask {
		class = c.slots[slot] - 1
		if class < 0 || c.hash[class] == uint32(hash>>32) && bytes.Equal(c.line(class), line) {
			return class, slot
		}
	}
}

func (c *classes) line(class int32) []byte {
	if at := c.sample[class]; at >= 0 {
		return c.a.line(int(at))
	}
	return c.b.line(int(^c.sample[class]))
}

// intern returns the class of the line, a new one if need be, whose sample it
// then is.
func (c *classes) intern(line []byte, sample int32) int32 {
	hash := maphash.Bytes(c.seed, line)
	class, slot := c.lookup(line, hash)
	if class >= 0 {
		return class
	}
	class = int32(len(c.sample))
	c.slots[slot] = class + 1
	c.hash = append(c.hash, uint32(hash>>32))
	c.sample = append(c.sample, sample)
	c.inA = append(c.inA, 0)
	c.inB = append(c.inB, 0)
	return class
}

// middleA numbers and counts the lines [from,to) of a.
func (c *classes) middleA(from, to int) []int32 {
	ids := make([]int32, to-from)
	for i := range ids {
		class := c.intern(c.a.line(from+i), int32(from+i))
		c.inA[class]++
		ids[i] = class
	}
	return ids
}

// middleB is middleA for b.
func (c *classes) middleB(from, to int) []int32 {
	ids := make([]int32, to-from)
	for i := range ids {
		class := c.intern(c.b.line(from+i), ^int32(from+i))
		c.inB[class]++
		ids[i] = class
	}
	return ids
}

// countShared counts the lines [from,to) of a, which b has as well, for both
// sides. Lines that occur in neither middle are of no interest.
func (c *classes) countShared(from, to int) {
	for i := from; i < to; i++ {
		line := c.a.line(i)
		if class, _ := c.lookup(line, maphash.Bytes(c.seed, line)); class >= 0 {
			c.inA[class]++
			c.inB[class]++
		}
	}
}
