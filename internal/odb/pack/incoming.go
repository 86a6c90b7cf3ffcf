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

// resolve computes the objects of the deltas, each after its base.
func (p *Incoming) resolve(ctx context.Context) error {
	byOffset, byID := make(map[int64][]int), make(map[object.ID][]int)
	var ready []int
	deltas := 0
	for i := range p.entries {
		switch e := &p.entries[i]; e.Kind {
		case OfsDelta:
			deltas++
			byOffset[e.BaseOff] = append(byOffset[e.BaseOff], i)
		case RefDelta:
			deltas++
			byID[e.BaseID] = append(byID[e.BaseID], i)
		default:
			ready = append(ready, i)
		}
	}
	// Deflate makes at most 1032 bytes out of one; deltas may make any number, but
	// no honest pack needs more than this of them.
	budget := p.end*1032 + 1<<30
	for len(ready) > 0 && deltas > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		e := &p.entries[i]
		if e.Kind >= OfsDelta {
			if err := errors.Join(ctx.Err(), p.resolveDelta(i, &budget)); err != nil {
				return err
			}
			deltas--
		}
		ready = append(append(ready, byOffset[e.off]...), byID[e.id]...)
	}
	if deltas > 0 {
		return Corrupt("%d deltas without their bases", deltas)
	}
	return nil
}

func (p *Incoming) resolveDelta(i int, budget *int64) error {
	kind, content, err := p.content(i)
	if err != nil {
		return err
	}
	if *budget -= int64(len(content)); *budget < 0 {
		return Corrupt("deltas that make far more than the pack holds")
	}
	p.entries[i].of, p.entries[i].made = kind, int64(len(content))
	return p.name(i, object.Sum(kind, content))
}

// content reads the object of an entry, along its chain of deltas.
func (p *Incoming) content(i int) (object.Kind, []byte, error) {
	var chain []int
	var content []byte
	var kind object.Kind
	for {
		if k, cached, ok := p.bases.get(place{off: p.entries[i].off}); ok {
			kind, content = k, cached
			break
		}
		if len(chain) == maxChain {
			return 0, nil, Corrupt("chain of more than %d deltas", maxChain)
		}
		e := &p.entries[i]
		if e.Kind < OfsDelta {
			var err error
			if content, err = p.inflate(i); err != nil {
				return 0, nil, err
			}
			kind = e.Kind
			break
		}
		chain = append(chain, i)
		if i = p.baseOf(e); i < 0 {
			return 0, nil, Corrupt("delta without its base (entry at %d)", e.off)
		}
	}
	for len(chain) > 0 {
		if int64(len(content)) > maxIncoming {
			return 0, nil, Corrupt("delta of an object of %d bytes", len(content))
		}
		p.bases.put(place{off: p.entries[i].off}, kind, content)
		i, chain = chain[len(chain)-1], chain[:len(chain)-1]
		delta, err := p.inflate(i)
		if err != nil {
			return 0, nil, err
		}
		if content, err = applyDelta(content, delta, maxIncoming); err != nil {
			return 0, nil, err
		}
	}
	return kind, content, nil
}

func (p *Incoming) baseOf(e *incomingEntry) int {
	i, ok := p.offsets[e.BaseOff]
	if e.Kind == RefDelta {
		i, ok = p.ids[e.BaseID]
	}
	if !ok {
		return -1
	}
	return i
}

// inflate reads what an entry holds: an object or a delta.
func (p *Incoming) inflate(i int) ([]byte, error) {
	z := NewInflater(p.spool, p.entries[i].off, p.end)
	defer z.Release()
	e, err := z.Entry(p.entries[i].off)
	if err != nil {
		return nil, err
	}
	return z.Contents(e.Size)
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

// Read returns a tree or commit of the pack; the contents must not be changed.
// Blobs have no such bound to their size.
func (p *Incoming) Read(id object.ID) (object.Kind, []byte, error) {
	i, ok := p.ids[id]
	if !ok {
		return 0, nil, fmt.Errorf("object %s: %w", id, ErrNotFound)
	}
	if p.entries[i].of == object.Blob {
		return 0, nil, fmt.Errorf("object %s is a blob", id)
	}
	kind, content, err := p.content(i)
	return kind, content, badPack(err)
}

// adder is the batch that AddTo fills.
type adder interface {
	Add(k object.Kind, content []byte) (object.ID, error)
	AddBlob(r io.Reader, size int64) (object.ID, error)
}

// AddTo adds all objects to a batch. They are compared with their ids once more.
func (p *Incoming) AddTo(ctx context.Context, b adder) error {
	for i := range p.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := &p.entries[i]
		got, err := p.addEntry(b, i)
		if err == nil && got != e.id {
			err = fmt.Errorf("%w: object %s has become %s", ErrPack, e.id, got)
		}
		if err != nil {
			return badPack(err)
		}
	}
	return nil
}

func (p *Incoming) addEntry(b adder, i int) (object.ID, error) {
	e := &p.entries[i]
	if e.Kind != object.Blob || e.Size <= StreamAbove {
		kind, content, err := p.content(i)
		if err != nil {
			return object.ID{}, err
		}
		return b.Add(kind, content)
	}
	z := NewInflater(p.spool, e.off, p.end)
	defer z.Release()
	if _, err := z.Entry(e.off); err != nil {
		return object.ID{}, err
	}
	return b.AddBlob(z, e.Size)
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
