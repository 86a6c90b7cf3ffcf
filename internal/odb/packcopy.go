package odb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// copyMemory is the size up to which an entry is copied by way of memory.
const copyMemory = 1 << 20

// packCopier puts what is kept of other packs into a new one. Compressed data are
// copied as they are. A delta stays one if its base comes along and precedes it;
// otherwise the object that it makes is compressed anew.
type packCopier struct {
	db   *DB
	w    *pack.Writer
	all  *census
	keep func(object.ID) bool
	seen bitset // slots of what has been copied
	room func(done int64) error
	buf  []byte
}

// copyError is damage in a pack: it stays as it is, and others can be copied.
type copyError struct {
	p   *pack.Pack
	err error
}

func (e *copyError) Error() string { return e.err.Error() }
func (e *copyError) Unwrap() error { return e.err }

// copySource is the pack that is being copied.
type copySource struct {
	p    *pack.Pack
	body *pack.Body
	rows []copyRow // by offset
}

// copyRow is an entry of it, in less room than a row takes.
type copyRow struct {
	off, to int64 // where it lies in the old pack, and in the new one; 0 = nowhere
	crc     uint32
	slot    int32 // in the census
}

func (c *packCopier) copyPack(ctx context.Context, p *pack.Pack) error {
	s, err := c.open(p)
	if err != nil {
		return damageIn(p, err)
	}
	for i := range s.rows {
		if i%walkStep == 0 {
			if err := errors.Join(ctx.Err(), c.room(c.w.Written())); err != nil {
				return err
			}
		}
		slot := int(s.rows[i].slot)
		if !c.keep(c.all.ids[slot]) || !c.seen.set(slot) {
			continue
		}
		if err := c.copyEntry(s, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *packCopier) open(p *pack.Pack) (*copySource, error) {
	x, err := p.Index()
	if err != nil {
		return nil, err
	}
	s := &copySource{p: p, rows: make([]copyRow, 0, x.N)}
	if s.body, err = p.Body(); err != nil {
		return nil, err
	}
	known := true
	err = x.Each(func(r pack.Row) {
		slot, ok := c.all.slot(r.ID)
		known = known && ok
		s.rows = append(s.rows, copyRow{off: r.Off, crc: r.CRC, slot: int32(slot)})
	})
	if err == nil && !known {
		err = pack.Corrupt("not the index that was counted")
	}
	slices.SortFunc(s.rows, func(a, b copyRow) int { return cmp.Compare(a.off, b.off) })
	return s, p.Wrap(pack.IndexExt, err)
}

func (s *copySource) end(i int) int64 {
	if i+1 < len(s.rows) {
		return s.rows[i+1].off
	}
	return s.body.End
}

func damageIn(p *pack.Pack, err error) error {
	if errors.Is(err, pack.ErrCorrupt) || errors.Is(err, pack.ErrGone) {
		return &copyError{p, err}
	}
	return err
}

func (c *packCopier) copyEntry(s *copySource, i int) error {
	r, end := &s.rows[i], s.end(i)
	id := c.all.ids[r.slot]
	if r.off < pack.HeadSize || end <= r.off || end > s.body.End {
		return &copyError{s.p, s.p.WrapAt(r.off, pack.Corrupt("entries do not follow each other"))}
	}
	r.to = c.w.Next()
	if end-r.off > copyMemory {
		return c.copyLarge(s, r, end)
	}
	data := c.scratch(int(end - r.off))
	if err := pack.ReadAt(s.body.Src, data, r.off); err != nil {
		return damageIn(s.p, s.p.WrapAt(r.off, err))
	}
	if crc32.ChecksumIEEE(data) != r.crc {
		return &copyError{s.p, s.p.WrapAt(r.off, pack.Corrupt("entry was altered"))}
	}
	e, n, err := pack.ParseEntry(data, r.off)
	if err != nil {
		return &copyError{s.p, s.p.WrapAt(r.off, err)}
	}
	if e.Kind < pack.OfsDelta {
		return c.w.Add(id, r.crc, data)
	}
	base, ok := s.baseAt(e, i)
	if !ok {
		return c.remake(s, r)
	}
	entry := pack.AppendDeltaHead(make([]byte, 0, len(data)+pack.MaxEntryHead), e.Size, r.to-base)
	entry = append(entry, data[n:]...)
	return c.w.Add(id, crc32.ChecksumIEEE(entry), entry)
}

func (c *packCopier) scratch(n int) []byte {
	if cap(c.buf) < n {
		c.buf = make([]byte, n)
	}
	return c.buf[:n]
}

// baseAt returns where the base of the i-th entry lies in the new pack.
func (s *copySource) baseAt(e pack.Entry, i int) (int64, bool) {
	off := e.BaseOff
	if e.Kind == pack.RefDelta {
		var ok bool
		var err error
		if off, ok, err = s.p.Find(e.BaseID); err != nil || !ok {
			return 0, false
		}
	}
	at, ok := slices.BinarySearchFunc(s.rows, off, func(r copyRow, off int64) int { return cmp.Compare(r.off, off) })
	if !ok || at >= i || s.rows[at].to == 0 {
		return 0, false
	}
	return s.rows[at].to, true
}

// remake writes the object that a delta makes. Its base may have several such
// dependents; the cache of bases spares most of the work.
func (c *packCopier) remake(s *copySource, r *copyRow) error {
	id := c.all.ids[r.slot]
	kind, content, err := pack.ReadVerified(c.db.bases.At(s.p, r.off), id)
	if err != nil {
		return damageIn(s.p, err)
	}
	return c.w.AddContent(id, kind, content)
}

// copyLarge copies an entry that is not held in memory. A delta of that size is
// made anew: nobody makes such.
func (c *packCopier) copyLarge(s *copySource, r *copyRow, end int64) error {
	head := c.scratch(pack.MaxEntryHead)
	if err := pack.ReadAt(s.body.Src, head, r.off); err != nil {
		return damageIn(s.p, s.p.WrapAt(r.off, err))
	}
	e, _, err := pack.ParseEntry(head, r.off)
	if err != nil {
		return &copyError{s.p, s.p.WrapAt(r.off, err)}
	}
	if e.Kind >= pack.OfsDelta {
		return c.remake(s, r)
	}
	sum := crc32.NewIEEE()
	in := &pack.WatchedReader{R: io.TeeReader(io.NewSectionReader(s.body.Src, r.off, end-r.off), sum)}
	if err := c.w.AddFrom(c.all.ids[r.slot], r.crc, in); err != nil {
		if in.Err != nil {
			return damageIn(s.p, s.p.WrapAt(r.off, in.Err))
		}
		return err
	}
	if in.N != end-r.off || sum.Sum32() != r.crc {
		return &copyError{s.p, s.p.WrapAt(r.off, pack.Corrupt("entry was altered"))}
	}
	return c.room(c.w.Written())
}

// copyLoose puts an object that is a file of its own into the pack.
func (c *packCopier) copyLoose(id object.ID) error {
	o := c.db.loose(id)
	kind, size, err := o.Stat()
	if err != nil {
		return &looseError{id, err}
	}
	if kind == object.Blob && size > pack.StreamAbove {
		return c.copyLargeLoose(id, size)
	}
	kind, content, err := pack.ReadVerified(o, id)
	if err != nil {
		return &looseError{id, err}
	}
	c.note(id)
	return c.w.AddContent(id, kind, content)
}

func (c *packCopier) note(id object.ID) {
	if slot, ok := c.all.slot(id); ok {
		c.seen.set(slot)
	}
}

// looseError says that a loose object cannot be read; it stays where it is.
type looseError struct {
	id  object.ID
	err error
}

func (e *looseError) Error() string { return fmt.Sprintf("loose object %s: %v", e.id, e.err) }
func (e *looseError) Unwrap() error { return e.err }

func (c *packCopier) copyLargeLoose(id object.ID, size int64) error {
	_, _, r, err := c.db.loose(id).Open(id)
	if err != nil {
		return &looseError{id, err}
	}
	defer r.Close()
	err = c.w.AddStream(id, r, size)
	var damage *pack.ReadError
	if errors.As(err, &damage) {
		return &looseError{id, err}
	}
	c.note(id)
	return err
}
