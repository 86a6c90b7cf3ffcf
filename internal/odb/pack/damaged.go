package pack

import (
	"bufio"
	"context"
	"crypto/sha1"
	"errors"
	"hash/crc32"
	"io"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// ReadDamaged reads the pack in a file of size bytes up to its first damage, which it
// returns; nil if the pack is whole. Do not Close the result: the file is the caller's.
func ReadDamaged(ctx context.Context, f *os.File, size int64) (p *Incoming, damage, err error) {
	p = &Incoming{spool: f, ids: make(map[object.ID]int), offsets: make(map[int64]int)}
	in := &arrival{ctx: ctx, r: io.NewSectionReader(f, 0, size), w: io.Discard}
	damage = p.receive(in)
	if in.err != nil {
		return nil, nil, in.err
	}
	if p.end == 0 {
		p.end = size
	}
	if damage == nil {
		damage = p.compareSum()
	}
	if err := p.resolve(ctx); damage == nil {
		damage = err
	}
	return p, damage, ctx.Err()
}

// EncodeIndex returns the contents of the index of a whole pack of size bytes.
func (p *Incoming) EncodeIndex(size int64) ([]byte, error) {
	rows := make([]Row, len(p.entries))
	for i := range p.entries {
		end := p.end
		if i+1 < len(p.entries) {
			end = p.entries[i+1].off
		}
		h := crc32.NewIEEE()
		if _, err := io.Copy(h, io.NewSectionReader(p.spool, p.entries[i].off, end-p.entries[i].off)); err != nil {
			return nil, err
		}
		rows[i] = Row{p.entries[i].id, h.Sum32(), p.entries[i].off}
	}
	var sum [sha1.Size]byte
	if err := ReadAt(p.spool, sum[:], size-sha1.Size); err != nil {
		return nil, err
	}
	return encodeIndex(rows, sum, offsetBit)
}

// SaveTo adds the intact objects to a new pack. Deltas with a damaged base are left out.
func (p *Incoming) SaveTo(ctx context.Context, w *Writer) error {
	for i := range p.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.entries[i].id.IsZero() {
			continue // a delta whose base is lost
		}
		if err := p.saveEntry(w, i); err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
	}
	return nil
}

func (p *Incoming) saveEntry(w *Writer, i int) error {
	e := &p.entries[i]
	if e.Kind != object.Blob || e.Size <= StreamAbove {
		kind, content, err := p.content(i)
		if err != nil {
			return err
		}
		if object.Sum(kind, content) != e.id {
			return Corrupt("entry at %d has changed", e.off)
		}
		return w.AddContent(e.id, kind, content)
	}
	z := NewInflater(p.spool, e.off, p.end)
	defer z.Release()
	if _, err := z.Entry(e.off); err != nil {
		return err
	}
	return w.AddStream(e.id, bufio.NewReader(z), e.Size)
}
