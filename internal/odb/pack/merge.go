package pack

import (
	"hash/crc32"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Merger copies the entries of several packs into a new one. An object that is in several
// of them is copied once.
type Merger struct {
	w    *Writer
	seen map[object.ID]bool
	data []byte // of the pack that is copied
}

// NewMerger returns a Merger into w, which gets room for all of the packs.
func NewMerger(w *Writer, packs []*Pack) *Merger {
	w.room(roomOf(packs))
	return &Merger{w: w, seen: make(map[object.ID]bool)}
}

// roomOf returns the size of the packs together, at most SpillAt.
func roomOf(packs []*Pack) (n int) {
	for _, p := range packs {
		if body, err := p.Body(); err == nil {
			n = int(min(int64(n)+body.End, SpillAt))
		}
	}
	return n
}

// Add copies the entries of a pack whose objects have not been copied yet. It reads the
// whole pack into memory. A damaged pack, or one with deltas, is refused before any of its
// entries is copied.
func (m *Merger) Add(p *Pack) (size int64, err error) {
	x, err := p.Index()
	if err != nil {
		return 0, err
	}
	body, err := p.Body()
	if err != nil {
		return 0, err
	}
	rows, err := x.Rows()
	if err != nil {
		return 0, p.Wrap(IndexExt, err)
	}
	data := slices.Grow(m.data[:0], int(body.End))[:body.End]
	m.data = data
	if err := ReadAt(body.Src, data, 0); err != nil {
		return 0, p.Wrap(Ext, err)
	}
	if err := checkEntries(data, rows); err != nil {
		return 0, p.Wrap(Ext, err)
	}
	for i, r := range rows {
		if m.seen[r.ID] {
			continue
		}
		m.seen[r.ID] = true
		if err := m.w.Add(r.ID, r.CRC, data[r.Off:entryEnd(int64(len(data)), rows, i)]); err != nil {
			return 0, err
		}
	}
	return body.End, nil
}

// checkEntries compares a pack with its index: the entries follow each other without
// gaps, have the checksums that the index says, and are not deltas: a copied delta would
// lose its base.
func checkEntries(data []byte, rows []Row) error {
	next := int64(HeadSize)
	for i, r := range rows {
		end := entryEnd(int64(len(data)), rows, i)
		if r.Off != next || end <= r.Off || end > int64(len(data)) {
			return Corrupt("entry at %d where %d was expected", r.Off, next)
		}
		if crc32.ChecksumIEEE(data[r.Off:end]) != r.CRC {
			return Corrupt("entry at %d was altered", r.Off)
		}
		e, _, err := ParseEntry(data[r.Off:end], r.Off)
		if err != nil {
			return err
		}
		if e.Kind >= OfsDelta {
			return Corrupt("entry at %d is a delta", r.Off)
		}
		next = end
	}
	if next != int64(len(data)) {
		return Corrupt("entries end at %d, not at %d", next, len(data))
	}
	return nil
}

// entryEnd returns where the i-th entry ends, if the last one ends at end.
func entryEnd(end int64, rows []Row, i int) int64 {
	if i+1 < len(rows) {
		return rows[i+1].Off
	}
	return end
}
