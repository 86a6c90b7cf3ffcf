package odb

import (
	"crypto/sha1"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// publishSmall is publish where all of it is in memory and fits into one record of the
// log: then only that is waited for. Where there is no log, or no room in a record, nothing
// is done.
func (db *DB) publishSmall(w *pack.Writer, refs []RefUpdate) (p *pack.Pack, done bool, err error) {
	if !w.InMemory() || len(refs) == 0 || w.Size() > redoMax {
		return nil, false, nil
	}
	if w.Size() < redoMax/2 {
		db.makeRedo(w.Allow)
	}
	if !db.redoable() {
		return nil, false, nil
	}
	writes, err := db.checkRefs(refs)
	if err != nil {
		return nil, false, err
	}
	h, err := db.refLog()
	if h == nil {
		return nil, false, err
	}
	defer h.release()
	rec := redoRecord{refs: db.redoRefsOf(writes)}
	if rec.size()+packNameSize+sha1.Size+w.Size() > redoMax {
		return nil, false, nil
	}
	if rec.name, rec.pack, rec.idx, err = w.EndInMemory(); err == nil {
		p, err = db.writeAndPromise(h, &rec, writes)
	}
	if err != nil {
		return nil, false, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	return p, true, nil
}

const packNameSize = int64(len(pack.Prefix)) + 2*sha1.Size

// writeAndPromise writes the files of a record, promises it, and then gives them their
// names.
func (db *DB) writeAndPromise(h *redoHold, rec *redoRecord, writes []refWrite) (*pack.Pack, error) {
	s := &pack.Sealed{Name: rec.name}
	defer s.Discard()
	defer discardRefs(writes)
	if err := db.layDown(s, rec, writes); err != nil {
		return nil, err
	}
	if err := h.promise(rec); err != nil {
		return nil, err
	}
	p, err := db.rename(s)
	if err == nil {
		err = db.placeRefs(writes)
	}
	if err != nil {
		return nil, h.cancel(err)
	}
	return p, nil
}

// layDown writes what a record holds under temporary names.
func (db *DB) layDown(s *pack.Sealed, rec *redoRecord, writes []refWrite) (err error) {
	if err := s.Lay(db.path(packDir), rec.pack, rec.idx); err != nil {
		return err
	}
	return db.layDownRefs(writes)
}
