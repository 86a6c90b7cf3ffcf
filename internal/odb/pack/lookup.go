package pack

import (
	"encoding/binary"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// lookup finds the entries of a Writer by id. It holds row numbers alone: a million entries take
// 8 MB, where a map of their ids takes 49. It counts the rows that it knows, and learns the others
// at the next question, so a writer that is never asked pays nothing.
type lookup struct {
	slots []uint32 // number of a row plus one, 0 = empty; the length is a power of two
	known int      // rows that have a slot
}

// Has reports whether an entry was added under the id.
func (w *Writer) Has(id object.ID) bool { return w.row(id) >= 0 }

// row returns the number of the row of an id, -1 without one.
func (w *Writer) row(id object.ID) int {
	l := &w.lookup
	l.learn(w.rows)
	if len(l.slots) == 0 {
		return -1
	}
	return int(l.slots[l.slot(w.rows, id)]) - 1
}

// learn gives each new row a slot. At most half of the slots are used.
func (l *lookup) learn(rows []Row) {
	if 2*len(rows) > len(l.slots) {
		l.slots, l.known = make([]uint32, slotsFor(len(rows))), 0
	}
	for ; l.known < len(rows); l.known++ {
		l.slots[l.slot(rows, rows[l.known].ID)] = uint32(l.known) + 1
	}
}

// slotsFor returns the least power of two, 64 or more, of which n rows use at most half.
func slotsFor(n int) int {
	slots := 64
	for slots < 2*n {
		slots *= 2
	}
	return slots
}

// slot returns the slot of an id, or the empty one where it belongs. An id is a hash, so its first
// bytes spread well.
func (l *lookup) slot(rows []Row, id object.ID) uint32 {
	last := uint32(len(l.slots) - 1)
	at := binary.BigEndian.Uint32(id[:]) & last
	for l.slots[at] != 0 && rows[l.slots[at]-1].ID != id {
		at = (at + 1) & last
	}
	return at
}
