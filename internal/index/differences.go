package index

import (
	"bytes"
	"iter"
)

// Differences yields the pairs of records that differ in two directory blocks, in name order. A
// record is nil if the block lacks the name. A nil directory has no records.
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

// sameRecords returns the size of the common first records of two blocks. Two blocks usually have
// most records in common, and comparing memory is faster than comparing records.
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

// commonPrefix returns the length of the common prefix of two slices.
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

// compareNames orders records by their names; nil comes last.
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

// rawOf returns the block of a directory, empty for nil.
func rawOf(d *Dir) []byte {
	if d == nil {
		return nil
	}
	return d.Raw
}
