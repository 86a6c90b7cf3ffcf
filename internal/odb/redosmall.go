package odb

import (
	"crypto/sha1"
	"fmt"
)

// publishSmall is publish where all of it is in memory and fits into one record of the
// log: then only that is waited for. Where there is no log, or no room in a record, nothing
// is done.
func (db *DB) publishSmall(w *packWriter, refs []RefUpdate) (p *pack, done bool, err error) {
	if w.file != nil || len(refs) == 0 || w.size() > redoMax {
		return nil, false, nil
	}
	if w.size() < redoMax/2 {
		db.makeRedo(w.allow)
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
	if rec.size()+packNameSize+sha1.Size+w.size() > redoMax {
		return nil, false, nil
	}
	if err = rec.take(w); err == nil {
		p, err = db.writeAndPromise(h, &rec, writes)
	}
	if err != nil {
		return nil, false, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	return p, true, nil
}

const packNameSize = int64(len(packPrefix)) + 2*sha1.Size

// take ends the pack of a writer and has the record hold it, in the writer's buffer, with
// its index.
func (r *redoRecord) take(w *packWriter) error {
	sum := w.finishBuffer()
	idx, err := encodeIndex(w.rows, sum, offsetBit)
	if err == nil && !w.ask(len(w.buf)+len(idx)) {
		err = w.short
	}
	r.name, r.pack, r.idx = ownName(sum), w.buf, idx
	return err
}

// writeAndPromise writes the files of a record, promises it, and then gives them their
// names.
func (db *DB) writeAndPromise(h *redoHold, rec *redoRecord, writes []refWrite) (*pack, error) {
	s := &sealed{name: rec.name, index: rec.idx}
	defer s.discard()
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
func (db *DB) layDown(s *sealed, rec *redoRecord, writes []refWrite) (err error) {
	if s.pack, err = writeTemp(db.path(packDir), tempPrefix, rec.pack); err != nil {
		return err
	}
	if s.idx, err = writeTemp(db.path(packDir), tempPrefix, rec.idx); err != nil {
		return err
	}
	return db.layDownRefs(writes)
}
