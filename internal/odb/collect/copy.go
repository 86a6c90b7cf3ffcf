package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/reach"
)

// copyMemory is the size up to which an entry is copied by way of memory.
const copyMemory = 1 << 20

// copyStep is how many entries are copied between two looks at ctx and the room.
const copyStep = 64

// copier copies live objects of packs, and loose ones, into a new pack. Compressed data are copied
// as they are. A delta stays a delta if its base precedes it in the new pack. Otherwise the
// object that it makes is compressed.
type copier struct {
	db     *odb.DB
	w      *pack.Writer
	all    *reach.Census
	isLive func(object.ID) bool
	copied reach.Bitset           // slots of the copied objects
	room   func(done int64) error // see collector.room
	tell   func()                 // called at intervals; nil = never
	buf    []byte
}

// copyError is damage in a pack. The pack stays as it is, and other packs can be copied.
type copyError struct {
	p   *pack.Pack
	err error
}

func (e *copyError) Error() string { return e.err.Error() }
func (e *copyError) Unwrap() error { return e.err }

// copySource is a pack that is being copied.
type copySource struct {
	p    *pack.Pack
	body *pack.Body
	rows []copyRow // by offset
}

// copyRow is an entry of a copySource. It takes less memory than a pack.Row.
type copyRow struct {
	off, to int64 // offset in the old pack, and in the new one; 0 = not copied
	crc     uint32
	slot    int32 // in the census
}

func (c *copier) copyPack(ctx context.Context, p *pack.Pack) error {
	s, err := c.open(p)
	if err != nil {
		return damageIn(p, err)
	}
	for i := range s.rows {
		if i%copyStep == 0 {
			if err := errors.Join(ctx.Err(), c.room(c.w.Written())); err != nil {
				return err
			}
			if c.tell != nil {
				c.tell()
			}
		}
		slot := int(s.rows[i].slot)
		if !c.isLive(c.all.IDs[slot]) || !c.copied.Set(slot) {
			continue
		}
		if err := c.copyEntry(s, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) open(p *pack.Pack) (*copySource, error) {
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
		slot, ok := c.all.Slot(r.ID)
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

func (c *copier) copyEntry(s *copySource, i int) error {
	r, end := &s.rows[i], s.end(i)
	id := c.all.IDs[r.slot]
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

func (c *copier) scratch(n int) []byte {
	if cap(c.buf) < n {
		c.buf = make([]byte, n)
	}
	return c.buf[:n]
}

// baseAt returns the offset in the new pack of the base of the i-th entry.
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

// remake writes the object that a delta makes. Several deltas may have one base, which the cache
// of bases keeps.
func (c *copier) remake(s *copySource, r *copyRow) error {
	id := c.all.IDs[r.slot]
	kind, content, err := pack.ReadVerified(c.db.Packed(s.p, r.off), id)
	if err != nil {
		return damageIn(s.p, err)
	}
	return c.w.AddContent(id, kind, content)
}

// copyLarge copies an entry that does not go through memory as a whole. It remakes a delta of
// that size, which no known program writes.
func (c *copier) copyLarge(s *copySource, r *copyRow, end int64) error {
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
	if err := c.w.AddFrom(c.all.IDs[r.slot], r.crc, in); err != nil {
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

// copyLoose copies a loose object.
func (c *copier) copyLoose(id object.ID) error {
	o := c.db.Loose(id)
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
	c.markCopied(id)
	return c.w.AddContent(id, kind, content)
}

func (c *copier) markCopied(id object.ID) {
	if slot, ok := c.all.Slot(id); ok {
		c.copied.Set(slot)
	}
}

// looseError says that a loose object cannot be read. It stays in its file.
type looseError struct {
	id  object.ID
	err error
}

func (e *looseError) Error() string { return fmt.Sprintf("loose object %s: %v", e.id, e.err) }
func (e *looseError) Unwrap() error { return e.err }

func (c *copier) copyLargeLoose(id object.ID, size int64) error {
	_, _, r, err := c.db.Loose(id).Open(id)
	if err != nil {
		return &looseError{id, err}
	}
	defer r.Close()
	err = c.w.AddStream(id, r, size)
	var damage *pack.ReadError
	if errors.As(err, &damage) {
		return &looseError{id, err}
	}
	c.markCopied(id)
	return err
}
