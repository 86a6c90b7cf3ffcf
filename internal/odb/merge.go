package odb

import (
	"hash/crc32"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// merger collects the entries of several packs in a new one.
type merger struct {
	w    *packWriter
	seen map[object.ID]bool
	data []byte // of the pack that is copied
}

// newMerger puts packs into w, which gets room for all of them.
func newMerger(w *packWriter, packs []*pack) *merger {
	w.room(roomOf(packs))
	return &merger{w: w, seen: make(map[object.ID]bool)}
}

// roomOf is what the packs take together, as far as a pack is held in memory.
func roomOf(packs []*pack) (n int) {
	for _, p := range packs {
		if body, err := p.data(); err == nil {
			n = int(min(int64(n)+body.end, spillAt))
		}
	}
	return n
}

// add adds the entries of a pack that are not yet seen. It reads the pack
// whole: foldMaxBytes bounds it. Either all of it is good, or nothing is added.
func (m *merger) add(p *pack) (size int64, err error) {
	x, err := p.index()
	if err != nil {
		return 0, err
	}
	body, err := p.data()
	if err != nil {
		return 0, err
	}
	rows, err := x.rows()
	if err != nil {
		return 0, p.wrap(idxExt, err)
	}
	data := slices.Grow(m.data[:0], int(body.end))[:body.end]
	m.data = data
	if err := readAt(body.src, data, 0); err != nil {
		return 0, p.wrap(packExt, err)
	}
	if err := checkEntries(data, rows); err != nil {
		return 0, p.wrap(packExt, err)
	}
	for i, r := range rows {
		if m.seen[r.id] {
			continue
		}
		m.seen[r.id] = true
		if err := m.w.add(r.id, r.crc, data[r.off:entryEnd(int64(len(data)), rows, i)]); err != nil {
			return 0, err
		}
	}
	return body.end, nil
}

// checkEntries compares a pack with its index: the entries follow each other without
// gaps, are what was written, and stand for themselves. Deltas would lose their bases.
func checkEntries(data []byte, rows []row) error {
	next := int64(packHead)
	for i, r := range rows {
		end := entryEnd(int64(len(data)), rows, i)
		if r.off != next || end <= r.off || end > int64(len(data)) {
			return corrupt("entry at %d where %d was expected", r.off, next)
		}
		if crc32.ChecksumIEEE(data[r.off:end]) != r.crc {
			return corrupt("entry at %d was altered", r.off)
		}
		e, _, err := parseEntry(data[r.off:end], r.off)
		if err != nil {
			return err
		}
		if e.kind >= ofsDelta {
			return corrupt("entry at %d is a delta", r.off)
		}
		next = end
	}
	if next != int64(len(data)) {
		return corrupt("entries end at %d, not at %d", next, len(data))
	}
	return nil
}

// entryEnd returns where the i-th entry ends, if the last one ends at end.
func entryEnd(end int64, rows []row, i int) int64 {
	if i+1 < len(rows) {
		return rows[i+1].off
	}
	return end
}
