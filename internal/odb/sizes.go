package odb

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// StoredSizes returns a function that tells how many bytes an object takes in the store: in its
// pack, or in the file of a loose object. The number is 0 for an absent object, for an object in
// an unreadable pack, and for a borrowed one that the lender still has.
func (db *DB) StoredSizes() (func(object.ID) int64, error) {
	if err := db.refresh(false); err != nil {
		return nil, err
	}
	sizes := make(map[object.ID]int64)
	for _, p := range db.packs.Load().packs {
		x, err := p.Index()
		if err != nil || isUncounted(p.Stem+pack.Ext) {
			continue
		}
		body, err := p.Body()
		if err != nil {
			continue
		}
		rows, err := x.Rows()
		if err != nil {
			continue
		}
		for i, r := range rows {
			end := body.End
			if i+1 < len(rows) {
				end = rows[i+1].Off
			}
			sizes[r.ID] = max(0, end-r.Off)
		}
	}
	return func(id object.ID) int64 {
		if size, ok := sizes[id]; ok {
			return size
		}
		path := db.Loose(id).Path
		if info, err := os.Stat(path); err == nil && !isUncounted(path) {
			return info.Size()
		}
		return 0
	}, nil
}

// ObjectBytes returns how many bytes packs and loose objects take. A pack counts as in Measure.
func (db *DB) ObjectBytes() (int64, error) {
	if err := db.refresh(true); err != nil {
		return 0, err
	}
	var size int64
	for _, p := range db.packs.Load().packs {
		if !isUncounted(p.Stem + pack.Ext) {
			size += p.FileBytes()
		}
	}
	loose, err := db.LooseObjects()
	for _, id := range loose {
		if o := db.Loose(id); !isUncounted(o.Path) {
			size += o.Size()
		}
	}
	return size, err
}

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
	sortByID(left, ids)
	for n, p := range db.packs.Load().packs {
		if n > 0 {
			left = slices.DeleteFunc(left, func(i int32) bool { return sizes[i] >= 0 })
		}
		if len(left) == 0 {
			break
		}
		p.Sizes(ids, left, sizes)
	}
	return sizes
}

// sortByID sorts positions in ids by the ids. The first eight bytes of an id decide nearly always.
func sortByID(positions []int32, ids []object.ID) {
	all := make([]pack.Keyed, len(positions))
	for i, at := range positions {
		all[i] = pack.Keyed{Key: binary.BigEndian.Uint64(ids[at][:]), At: at}
	}
	all = pack.SortSpread(all, func(a, b int32) int { return bytes.Compare(ids[a][:], ids[b][:]) })
	for i, k := range all {
		positions[i] = k.At
	}
}

// FreeSpace returns how many bytes the disk of the store has left for its owner.
func (db *DB) FreeSpace() (int64, error) { return freeSpace(db.dir) }
