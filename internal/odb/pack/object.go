package pack

import (
	"fmt"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Limits of what deltas may ask for. Git writes chains of at most 4,095 and makes
// no deltas of files above 512 MiB.
const (
	maxChain      = 4096
	maxDeltaBytes = 512 << 20
)

// place is the position of an entry.
type place struct {
	p   *Pack
	off int64
}

// Bases finds and caches the bases of deltas. The zero value looks for them in the pack of
// the delta only.
type Bases struct {
	Elsewhere func(object.ID) (*Pack, int64, bool) // finds an object in other packs; may be nil

	cache baseCache
}

// At returns the object whose entry lies at off in a pack.
func (b *Bases) At(p *Pack, off int64) Object { return Object{b, place{p, off}} }

// Object is an object in a pack. It is a Source.
type Object struct {
	bases *Bases
	place
}

// Check implements Source.
func (o Object) Check() error { return nil } // Pack.Find has compared pack and index

// Wrap adds the pack and the place of the entry to an error.
func (o Object) Wrap(err error) error { return o.p.WrapAt(o.off, err) }

// Stat returns kind and size. It follows a chain of deltas by its headers only.
func (o Object) Stat() (object.Kind, int64, error) {
	at, size := o.place, int64(-1)
	for range maxChain {
		e, z, err := at.p.inflaterAt(at.off)
		if err != nil {
			return 0, 0, err
		}
		if size < 0 {
			size, err = resultSize(e, z)
		}
		z.Release()
		if err != nil {
			return 0, 0, at.p.WrapAt(at.off, err)
		}
		if e.Kind < OfsDelta {
			return e.Kind, size, nil
		}
		if at, err = o.bases.base(at, e); err != nil {
			return 0, 0, err
		}
	}
	return 0, 0, o.p.WrapAt(o.off, Corrupt("chain of more than %d deltas", maxChain))
}

// resultSize returns the size of the object that an entry makes.
func resultSize(e Entry, z *Inflater) (int64, error) {
	if e.Kind < OfsDelta {
		return e.Size, nil
	}
	var head [20]byte // two sizes of up to ten bytes
	n, err := io.ReadFull(z, head[:min(e.Size, int64(len(head)))])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = Corrupt("delta ends early")
	}
	if err != nil {
		return 0, err
	}
	_, rest, err := deltaSize(head[:n])
	if err != nil {
		return 0, err
	}
	size, _, err := deltaSize(rest)
	return size, err
}

// base returns the place of the base of the delta e at the place at. Bases by id
// are looked for in the same pack first, which is where git puts them.
func (b *Bases) base(at place, e Entry) (place, error) {
	if e.Kind == OfsDelta {
		return place{at.p, e.BaseOff}, nil
	}
	off, ok, err := at.p.Find(e.BaseID)
	if err != nil {
		return place{}, err
	}
	if ok {
		return place{at.p, off}, nil
	}
	if b.Elsewhere != nil {
		if p, off, ok := b.Elsewhere(e.BaseID); ok {
			return place{p, off}, nil
		}
	}
	return place{}, at.p.WrapAt(at.off, Corrupt("delta without its base %s", e.BaseID))
}

// link is one delta of a chain.
type link struct {
	place
	delta []byte
}

// Read walks down the chain of deltas to a whole object, then applies them on the
// way back. Bases are cached; the returned contents are the caller's.
func (o Object) Read() (object.Kind, []byte, error) {
	var chain []link
	kind, content, err := o.bases.descend(o.place, &chain)
	if err != nil {
		return 0, nil, err
	}
	for i := len(chain) - 1; i >= 0; i-- {
		l := chain[i]
		content, err = applyDelta(content, l.delta, maxDeltaBytes)
		if err != nil {
			return 0, nil, l.p.WrapAt(l.off, err)
		}
		if i > 0 {
			o.bases.cache.put(l.place, kind, content)
		}
	}
	return kind, content, nil
}

func (b *Bases) descend(at place, chain *[]link) (object.Kind, []byte, error) {
	held := 0
	for range maxChain {
		if len(*chain) > 0 {
			if kind, content, ok := b.cache.get(at); ok {
				return kind, content, nil
			}
		}
		e, data, err := at.p.inflate(at.off)
		if err != nil {
			return 0, nil, err
		}
		if e.Kind < OfsDelta {
			if len(*chain) > 0 {
				b.cache.put(at, e.Kind, data)
			}
			return e.Kind, data, nil
		}
		if held += len(data); held > maxDeltaBytes {
			return 0, nil, at.p.WrapAt(at.off, Corrupt("chain of deltas of %d bytes", held))
		}
		*chain = append(*chain, link{at, data})
		if at, err = b.base(at, e); err != nil {
			return 0, nil, err
		}
	}
	return 0, nil, at.p.WrapAt(at.off, Corrupt("chain of more than %d deltas", maxChain))
}

// Open streams an object that is not a delta through a file handle of its own, so that the
// pack can be removed meanwhile. Deltas are read into memory.
func (o Object) Open(id object.ID) (object.Kind, int64, io.ReadCloser, error) {
	e, z, err := o.p.inflaterAt(o.off)
	if err != nil {
		return 0, 0, nil, err
	}
	z.Release()
	if e.Kind >= OfsDelta || e.Size <= InMemory {
		return OpenRead(o, id)
	}
	body, err := o.p.Body()
	if err != nil {
		return 0, 0, nil, err
	}
	f, err := atomicfile.Open(o.p.Stem + Ext)
	if err != nil {
		return 0, 0, nil, o.p.Wrap(Ext, err)
	}
	s := &Stream{file: f, inflater: NewInflater(f, o.off, body.End), id: id, what: fmt.Sprintf("%s: entry at %d", f.Name(), o.off)}
	if e, err = s.inflater.Entry(o.off); err == nil {
		err = s.inflater.Plausible(e.Size)
	}
	if err != nil {
		s.Close()
		return 0, 0, nil, o.p.WrapAt(o.off, err)
	}
	s.begin(e.Kind, e.Size)
	return e.Kind, e.Size, s, nil
}
