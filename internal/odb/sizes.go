package odb

import (
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// StoredSizes returns how many bytes each object of the store's packs takes there,
// and a function that answers for any object: of a loose one it asks the file, of one
// that is not there it says 0. A pack that cannot be read counts as empty, and so does
// a borrowed one that the lender has, too.
func (db *DB) StoredSizes() (func(object.ID) int64, error) {
	if err := db.refresh(false); err != nil {
		return nil, err
	}
	sizes := make(map[object.ID]int64)
	for _, p := range db.packs.Load().packs {
		x, err := p.index()
		if err != nil || takesNoRoom(p.stem+packExt) {
			continue
		}
		body, err := p.data()
		if err != nil {
			continue
		}
		rows, err := x.rows()
		if err != nil {
			continue
		}
		for i, r := range rows {
			end := body.end
			if i+1 < len(rows) {
				end = rows[i+1].off
			}
			sizes[r.id] = max(0, end-r.off)
		}
	}
	return func(id object.ID) int64 {
		if size, ok := sizes[id]; ok {
			return size
		}
		if info, err := os.Stat(db.loose(id).path); err == nil {
			return info.Size()
		}
		return 0
	}, nil
}

// ObjectBytes returns how many bytes packs and loose objects take. A pack counts as in
// Measure.
func (db *DB) ObjectBytes() (int64, error) {
	if err := db.refresh(true); err != nil {
		return 0, err
	}
	var size int64
	for _, p := range db.packs.Load().packs {
		if !takesNoRoom(p.stem + packExt) {
			size += packBytes(p)
		}
	}
	loose, err := db.allLoose()
	for _, id := range loose {
		size += fileSize(db.loose(id).path)
	}
	return size, err
}
