package reach

import (
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// hints tells which objects of the census may resemble each other: the objects that have
// the same name in a tree, in the order of their marks. The marker walks a line along its
// commits, so versions of a directory or a file are neighbours.
type hints struct {
	numbers map[string]uint32
	names   []string
	of      []uint32 // by slot; 0 = none
	order   []uint32 // slots as they were marked
}

// RecordHints makes the marker remember names and the order of marks, for Hints. It is called
// before the first mark.
func (m *Marker) RecordHints() {
	n := len(m.IDs)
	m.hints = &hints{numbers: make(map[string]uint32), names: []string{""}, of: make([]uint32, n)}
}

// Hints yields the slots of the marked objects in the order of their marks, each with the
// name of the object in one of the trees, "" where it has none. It needs RecordHints.
func (m *Marker) Hints() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for _, slot := range m.hints.order {
			if !yield(int(slot), m.hints.names[m.hints.of[slot]]) {
				return
			}
		}
	}
}

// hint remembers the first name of an object.
func (m *Marker) hint(id object.ID, name []byte) {
	if m.hints == nil {
		return
	}
	slot, ok := m.Slot(id)
	if !ok || m.hints.of[slot] != 0 {
		return
	}
	n, ok := m.hints.numbers[string(name)]
	if !ok {
		n = uint32(len(m.hints.names))
		m.hints.names = append(m.hints.names, string(name))
		m.hints.numbers[string(name)] = n
	}
	m.hints.of[slot] = n
}
