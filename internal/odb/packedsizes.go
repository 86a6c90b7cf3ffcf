package odb

import (
	"bytes"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// PackedSizes returns the size of the contents of each object. It does not determine the
// kind, which takes reading the whole chain of a delta. The size is -1 for an object that is
// in no pack or unreadable there.
//
// It is for many ids at once: they are searched in the order of the indexes, and then read
// in the order of the packs, which takes a tenth of the time of one search after the other.
func (db *DB) PackedSizes(ids []object.ID) []int64 {
	sizes := make([]int64, len(ids))
	left := make([]int32, len(ids)) // positions in ids, ordered by id
	for i := range ids {
		sizes[i], left[i] = -1, int32(i)
	}
	slices.SortFunc(left, func(a, b int32) int { return bytes.Compare(ids[a][:], ids[b][:]) })
	for _, p := range db.packs.Load().packs {
		if len(left) == 0 {
			break
		}
		p.Sizes(ids, left, sizes)
		left = slices.DeleteFunc(left, func(i int32) bool { return sizes[i] >= 0 })
	}
	return sizes
}
