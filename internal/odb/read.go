package odb

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// maxSearches bounds how often a search starts again because packs come and go.
const maxSearches = 20

// search calls use on the copies of an object, in packs and loose, until one call succeeds. If
// none does and packs have come or gone meanwhile, it tries again.
//
// The error is ErrNotFound only if every pack could be searched: a damaged pack may have the
// object.
func (db *DB) search(id object.ID, use func(pack.Source) error) error {
	var trouble error
	for range maxSearches {
		set := db.packs.Load()
		s := searching{db: db, id: id, use: use}
		if s.packs(set) || s.loose() {
			return nil
		}
		trouble = s.trouble
		if err := db.refresh(s.gone != nil); err != nil {
			return fmt.Errorf("object %s: %w", id, err)
		}
		if db.packs.Load().change != set.change {
			continue
		}
		if trouble == nil {
			trouble = s.gone
		}
		break
	}
	if trouble == nil {
		trouble = ErrNotFound
	}
	return fmt.Errorf("object %s: %w", id, trouble)
}

// searching is one round of a search.
type searching struct {
	db      *DB
	id      object.ID
	use     func(pack.Source) error
	gone    error // a pack has vanished
	trouble error // the first other error
}

func (s *searching) packs(set *packSet) bool {
	last := s.db.last.Load()
	if slices.Contains(set.packs, last) && s.pack(last) {
		return true
	}
	for _, p := range set.packs {
		if p != last && s.pack(p) {
			s.db.last.Store(p)
			return true
		}
	}
	return false
}

func (s *searching) pack(p *pack.Pack) bool {
	off, ok, err := p.Find(s.id)
	if ok {
		err = s.use(s.db.bases.At(p, off))
	}
	switch {
	case errors.Is(err, pack.ErrGone):
		s.gone = fmt.Errorf("%s: %w", p.Stem, err)
	case err != nil && s.trouble == nil:
		s.trouble = err
	}
	return ok && err == nil
}

func (s *searching) loose() bool {
	err := s.use(s.db.Loose(s.id))
	if err != nil && !errors.Is(err, ErrNotFound) && s.trouble == nil {
		s.trouble = err
	}
	return err == nil
}

// Has reports whether the store has an object that looks readable. It does not read the contents.
// An object in a pack that another process has removed since the packs were listed may still
// count; NewBatch and PackNames list the packs again.
func (db *DB) Has(id object.ID) (bool, error) {
	err := db.search(id, pack.Source.Check)
	if errors.Is(err, ErrNotFound) || errors.Is(err, pack.ErrCorrupt) {
		return false, nil
	}
	return err == nil, err
}

// Stat returns kind and size without reading the contents, so it does not verify them.
func (db *DB) Stat(id object.ID) (kind object.Kind, size int64, err error) {
	err = db.search(id, func(s pack.Source) (err error) {
		kind, size, err = s.Stat()
		return err
	})
	return kind, size, err
}

// Read returns an object, also of a batch that is shown. The caller owns the contents. If one copy is damaged, Read
// tries the others.
func (db *DB) Read(id object.ID) (kind object.Kind, content []byte, err error) {
	if b := db.shown.Load(); b != nil {
		if kind, content, found, err := b.read(id); found {
			return kind, content, err
		}
	}
	err = db.search(id, func(s pack.Source) (err error) {
		kind, content, err = pack.ReadVerified(s, id)
		return err
	})
	return kind, content, err
}

// Open returns a reader of an object that is too large for memory. The contents are unverified
// until the end: the reader ends in ErrCorrupt instead of io.EOF if they are damaged.
func (db *DB) Open(id object.ID) (kind object.Kind, size int64, r io.ReadCloser, err error) {
	err = db.search(id, func(s pack.Source) (err error) {
		kind, size, r, err = s.Open(id)
		return err
	})
	return kind, size, r, err
}
