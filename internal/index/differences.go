package index

import (
	"bytes"
	"iter"
)

// Differences yields the names whose records differ in two blocks, in their order: the
// record in each, nil where it has none.
func Differences(a, b []byte) iter.Seq2[Record, Record] {
	return func(yield func(a, b Record) bool) {
		left, restA := Next(a)
		right, restB := Next(b)
		for left != nil || right != nil {
			x, y := left, right
			switch order := compareNames(left, right); {
			case order < 0:
				y = nil
			case order > 0:
				x = nil
			}
			if !bytes.Equal(x, y) && !yield(x, y) {
				return
			}
			if x != nil {
				left, restA = Next(restA)
			}
			if y != nil {
				right, restB = Next(restB)
			}
		}
	}
}

// compareNames orders records by their names; none comes after all.
func compareNames(a, b Record) int {
	switch {
	case a == nil:
		return 1
	case b == nil:
		return -1
	case bytes.Equal(a, b):
		return 0
	}
	return bytes.Compare(a.Name(), b.Name())
}

// rawOf is the block of a directory, empty for nil.
func rawOf(d *Dir) []byte {
	if d == nil {
		return nil
	}
	return d.Raw
}
