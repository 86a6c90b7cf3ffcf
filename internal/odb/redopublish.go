package odb

import (
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// refLog takes hold of the log for a change of refs. It is nil where there is none, and
// the change has to be flushed by itself. Whoever keeps no log empties that of others:
// a ref that changes outside of it must not be in it.
func (db *DB) refLog() (*redoHold, error) {
	h, err := db.holdRedo()
	if h == nil || err != nil || db.redoable() {
		return h, err
	}
	defer h.release()
	if h.empty() {
		return nil, nil
	}
	return nil, h.settle()
}

// redoable reports whether a log may be kept.
func (db *DB) redoable() bool {
	_, ok := db.redo.token()
	return ok && !db.opt.NoSync
}

// publishLogged is publish by way of the log for a pack that is too large to be part of a
// record. It is flushed first, and then its directory at the same time as the record.
func (db *DB) publishLogged(h *redoHold, s *pack.Sealed, writes []refWrite) (p *pack.Pack, err error) {
	rec := redoRecord{name: s.Name, refs: db.redoRefsOf(writes)}
	if rec.size() > redoMax { // thousands of refs
		if err := h.settle(); err != nil {
			return nil, err
		}
		return db.publishFlushed(s, writes)
	}
	if p, err = db.promiseLarge(h, s, &rec); err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	if err := db.placeRefs(writes); err != nil {
		return nil, h.cancel(err)
	}
	return p, nil
}

// promiseLarge puts a pack into the store and promises the refs.
func (db *DB) promiseLarge(h *redoHold, s *pack.Sealed, rec *redoRecord) (*pack.Pack, error) {
	if err := db.flush(s.Pack, s.Idx); err != nil {
		return nil, err
	}
	p, err := db.rename(s)
	if err != nil {
		return nil, err
	}
	var promised error
	err = atOnce(
		func() error { return db.syncDirs(db.path(packDir)) },
		func() error { promised = h.promise(rec); return promised },
	)
	if err != nil && promised == nil {
		err = h.cancel(err)
	}
	return p, err
}

// redoRefsOf is what a record says of refs that are about to be set.
func (db *DB) redoRefsOf(writes []refWrite) []redoRef {
	var refs []redoRef
	for _, w := range writes {
		from, _ := db.refNow(w.name) // one that makes no sense has no value to go by
		refs = append(refs, redoRef{name: w.name, from: from, to: w.id})
	}
	return refs
}

// setLogged sets refs by way of the log.
func (db *DB) setLogged(h *redoHold, writes []refWrite) error {
	rec := redoRecord{refs: db.redoRefsOf(writes)}
	if rec.size() > redoMax {
		if err := h.settle(); err != nil {
			return err
		}
		return db.setFlushed(writes)
	}
	if err := h.promise(&rec); err != nil {
		return fmt.Errorf("set ref %s: %w", writes[0].name, err)
	}
	if err := db.placeRefs(writes); err != nil {
		return h.cancel(err)
	}
	return nil
}

// deleteLogged deletes a ref by way of the log.
func (db *DB) deleteLogged(h *redoHold, name string) error {
	from, err := db.refNow(name)
	if err == nil && from.IsZero() {
		return ErrNotFound
	}
	if err := h.promise(&redoRecord{refs: []redoRef{{name: name, from: from}}}); err != nil {
		return err
	}
	if _, err := db.removeRef(name); err != nil {
		return h.cancel(err)
	}
	return nil
}

// publishInstead publishes a pack that holds all that others do, and empties the log:
// what that vouches for is flushed at the same time, but for these others.
func (db *DB) publishInstead(w *pack.Writer, others []*pack.Pack) (*pack.Pack, error) {
	h, err := db.holdRedo()
	if err != nil {
		return nil, err
	}
	defer h.release()
	if h.empty() {
		return db.publish(w)
	}
	defer w.Discard()
	s, err := w.Seal()
	if err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	defer s.Discard()
	others = slices.DeleteFunc(slices.Clone(others), func(p *pack.Pack) bool { return p.Name() == s.Name })
	files, dirs := db.vouchedFor(h.scan(), others)
	err = atOnce(
		func() error { return flushPaths(files) },
		func() error { return db.flush(s.Pack, s.Idx) },
	)
	if err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	p, err := db.rename(s)
	if err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	if dir := db.path(packDir); !slices.Contains(dirs, dir) {
		dirs = append(dirs, dir)
	}
	if err := flushDirs(dirs); err != nil {
		return nil, err
	}
	return p, h.reset()
}
