package pack

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// ErrPack says that a pack from elsewhere is unusable.
var ErrPack = errors.New("unusable pack")

// maxIncoming bounds the objects of a pack from elsewhere that are held in memory: trees,
// commits, and the results of deltas.
const maxIncoming = 128 << 20

// Incoming is a pack from elsewhere in a temporary file. Its checksum and its syntax are
// good, and the ids of its objects are computed from their bytes. The caller judges what
// the objects say.
type Incoming struct {
	spool   *os.File
	end     int64 // of the entries
	entries []incomingEntry
	ids     map[object.ID]int // into entries
	offsets map[int64]int
	bases   baseCache
}

type incomingEntry struct {
	Entry
	off  int64
	id   object.ID   // zero while it is an unresolved delta
	of   object.Kind // of the object; entry.kind may be that of a delta
	made int64       // size of the object
}

// Receive reads a pack up to its end, which must be the end of r, into a temporary file in
// dir, and checks it while it comes: the first fault ends the reading. Deltas may be among
// the objects if their bases are, too. Close removes the file.
func Receive(ctx context.Context, dir string, r io.Reader) (*Incoming, error) {
	spool, err := atomicfile.Create(dir, TempPrefix)
	if err != nil {
		return nil, err
	}
	p := &Incoming{spool: spool, ids: make(map[object.ID]int), offsets: make(map[int64]int)}
	in := &arrival{ctx: ctx, r: r, w: spool}
	err = p.receive(in)
	if in.err != nil {
		err = in.err // the cause; the other error follows from it
	}
	if err == nil {
		err = p.compareSum()
	}
	if err == nil {
		err = p.resolve(ctx)
	}
	if err != nil {
		return nil, errors.Join(badPack(err), p.Close())
	}
	return p, nil
}

// badPack turns ErrCorrupt, whose text blames the store, into ErrPack.
func badPack(err error) error {
	if !errors.Is(err, ErrCorrupt) {
		return err
	}
	return fmt.Errorf("%w: %s", ErrPack, strings.TrimPrefix(err.Error(), ErrCorrupt.Error()+": "))
}

// arrival copies the bytes that are read to w, and keeps the first error.
type arrival struct {
	ctx context.Context
	r   io.Reader
	w   io.Writer
	n   int64
	err error
}

func (a *arrival) Read(p []byte) (int, error) {
	if a.err == nil {
		a.err = a.ctx.Err()
	}
	if a.err != nil {
		return 0, a.err
	}
	n, err := a.r.Read(p)
	a.n += int64(n)
	if _, werr := a.w.Write(p[:n]); werr != nil {
		err = werr
	}
	if err != nil && err != io.EOF {
		a.err = err
	}
	return n, err
}

// receive reads entry by entry. The sizes that the pack claims never decide how much memory
// is allocated.
func (p *Incoming) receive(in *arrival) error {
	z := &Inflater{br: bufio.NewReaderSize(in, sampleSize), max: math.MaxInt64}
	at := func() int64 { return in.n - int64(z.br.Buffered()) }
	var head [HeadSize]byte
	if _, err := io.ReadFull(z.br, head[:]); err != nil {
		return early(err)
	}
	if version := binary.BigEndian.Uint32(head[4:]); string(head[:4]) != "PACK" || version != 2 && version != 3 {
		return Corrupt("not a pack of version 2 or 3")
	}
	for n := binary.BigEndian.Uint32(head[8:]); n > 0; n-- {
		off := at()
		if err := p.receiveEntry(z, off); err != nil {
			return fmt.Errorf("%w (entry at %d)", err, off)
		}
	}
	p.end = at()
	if _, err := io.CopyN(io.Discard, z.br, sha1.Size); err != nil {
		return early(err)
	}
	if _, err := z.br.ReadByte(); err != io.EOF {
		if err == nil {
			err = Corrupt("something follows the pack")
		}
		return err
	}
	return nil
}

func early(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return Corrupt("pack ends early")
	}
	return err
}

func (p *Incoming) receiveEntry(z *Inflater, off int64) error {
	e, err := z.Entry(off)
	if err != nil {
		return early(err)
	}
	if e.Kind != object.Blob && e.Size > maxIncoming {
		return Corrupt("%s of %d bytes", e.Kind, e.Size)
	}
	in := incomingEntry{Entry: e, off: off, of: e.Kind, made: e.Size}
	h := object.NewHash(object.Blob, 0)
	if e.Kind < OfsDelta {
		h = object.NewHash(e.Kind, e.Size)
	}
	if n, err := io.CopyN(h, z, e.Size); err == io.EOF {
		return Corrupt("%d bytes instead of %d", n, e.Size)
	} else if err != nil {
		return err
	}
	if err := z.finish(); err != nil {
		return err
	}
	if e.Kind < OfsDelta {
		in.id = object.HashID(h)
	}
	return p.list(in)
}

// list appends an entry.
func (p *Incoming) list(in incomingEntry) error {
	i := len(p.entries)
	p.entries = append(p.entries, in)
	p.offsets[in.off] = i
	if in.Kind < OfsDelta {
		return p.name(i, in.id)
	}
	return nil
}

func (p *Incoming) name(i int, id object.ID) error {
	if _, twice := p.ids[id]; twice {
		return Corrupt("object %s twice", id)
	}
	p.entries[i].id = id
	p.ids[id] = i
	return nil
}

// compareSum compares the checksum with the temporary file, which is read back.
func (p *Incoming) compareSum() error {
	h := sha1.New()
	if _, err := io.Copy(h, io.NewSectionReader(p.spool, 0, p.end)); err != nil {
		return err
	}
	var want [sha1.Size]byte
	if err := ReadAt(p.spool, want[:], p.end); err != nil {
		return err
	}
	if !bytes.Equal(h.Sum(nil), want[:]) {
		return fmt.Errorf("%w: its checksum is wrong", ErrPack)
	}
	return nil
}

// Len returns the number of objects.
func (p *Incoming) Len() int { return len(p.entries) }

// Kind returns the kind of an object, 0 if the pack does not hold it.
func (p *Incoming) Kind(id object.ID) object.Kind {
	i, ok := p.ids[id]
	if !ok {
		return 0
	}
	return p.entries[i].of
}

// Close removes the temporary file.
func (p *Incoming) Close() error {
	if p.spool == nil {
		return nil
	}
	err := p.spool.Close()
	if rerr := os.Remove(p.spool.Name()); err == nil {
		err = rerr
	}
	p.spool = nil
	return err
}
