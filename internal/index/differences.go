package index

import (
	"bytes"
	"iter"
)

// Differences yields the names whose records differ in the blocks of two directories, in
// their order: the record in each, nil where it has none. A directory that is nil has none
// at all.
func Differences(old, new *Dir) iter.Seq2[Record, Record] {
	return func(yield func(old, new Record) bool) {
		a, b := rawOf(old), rawOf(new)
		for len(a) > 0 || len(b) > 0 {
			same := sameRecords(a, b)
			a, b = a[same:], b[same:]
			left, restA := Next(a)
			right, restB := Next(b)
			switch order := compareNames(left, right); {
			case order < 0:
				right, restB = nil, b
			case order > 0:
				left, restA = nil, a
			}
			if (left != nil || right != nil) && !yield(left, right) {
				return
			}
			a, b = restA, restB
		}
	}
}

// sameRecords is the size of the records with which both blocks begin. Most of two
// blocks is the same as a rule, and memory is compared faster than records are.
func sameRecords(a, b []byte) (size int) {
	common := commonPrefix(a, b)
	for size < common {
		rec, _ := Next(a[size:])
		if rec == nil || size+len(rec) > common {
			break
		}
		size += len(rec)
	}
	return size
}

// commonPrefix is how many bytes two slices have in common at their beginnings.
func commonPrefix(a, b []byte) (n int) {
	const step = 512
	limit := min(len(a), len(b))
	for n+step <= limit && bytes.Equal(a[n:n+step], b[n:n+step]) {
		n += step
	}
	for n < limit && a[n] == b[n] {
		n++
	}
	return n
}

// compareNames orders records by their names; none comes after all.
func compareNames(a, b Record) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
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
