package odb

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

// place is where an entry lies.
type place struct {
	p   *pack
	off int64
}

// bases finds and keeps the bases of deltas. The zero value looks for them in the
// delta's own pack only.
type bases struct {
	Elsewhere func(object.ID) (*pack, int64, bool) // finds an object in other packs; may be nil

	cache baseCache
}

// At returns the object whose entry lies at off in a pack.
func (b *bases) At(p *pack, off int64) packed { return packed{b, place{p, off}} }

// packed is an object in a pack.
type packed struct {
	bases *bases
	place
}

func (o packed) check() error { return nil } // find has compared pack and index

func (o packed) wrap(err error) error { return o.p.at(o.off, err) }

// stat follows a chain of deltas by its headers only.
func (o packed) stat() (object.Kind, int64, error) {
	at, size := o.place, int64(-1)
	for range maxChain {
		e, z, err := at.p.inflaterAt(at.off)
		if err != nil {
			return 0, 0, err
		}
		if size < 0 {
			size, err = resultSize(e, z)
		}
		z.release()
		if err != nil {
			return 0, 0, at.p.at(at.off, err)
		}
		if e.kind < ofsDelta {
			return e.kind, size, nil
		}
		if at, err = o.bases.base(at, e); err != nil {
			return 0, 0, err
		}
	}
	return 0, 0, o.p.at(o.off, corrupt("chain of more than %d deltas", maxChain))
}

// resultSize returns the size of the object that an entry makes.
func resultSize(e entry, z *inflater) (int64, error) {
	if e.kind < ofsDelta {
		return e.size, nil
	}
	var head [20]byte // two sizes of up to ten bytes
	n, err := io.ReadFull(z, head[:min(e.size, int64(len(head)))])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = corrupt("delta ends early")
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
func (b *bases) base(at place, e entry) (place, error) {
	if e.kind == ofsDelta {
		return place{at.p, e.baseOff}, nil
	}
	off, ok, err := at.p.find(e.baseID)
	if err != nil {
		return place{}, err
	}
	if ok {
		return place{at.p, off}, nil
	}
	if b.Elsewhere != nil {
		if p, off, ok := b.Elsewhere(e.baseID); ok {
			return place{p, off}, nil
		}
	}
	return place{}, at.p.at(at.off, corrupt("delta without its base %s", e.baseID))
}

// link is one delta of a chain.
type link struct {
	place
	delta []byte
}

// read walks down the chain of deltas to a whole object, then applies them on the
// way back. Bases are cached; what is returned is the caller's.
func (o packed) read() (object.Kind, []byte, error) {
	var chain []link
	kind, content, err := o.bases.descend(o.place, &chain)
	if err != nil {
		return 0, nil, err
	}
	for i := len(chain) - 1; i >= 0; i-- {
		l := chain[i]
		content, err = applyDelta(content, l.delta, maxDeltaBytes)
		if err != nil {
			return 0, nil, l.p.at(l.off, err)
		}
		if i > 0 {
			o.bases.cache.put(l.place, kind, content)
		}
	}
	return kind, content, nil
}

func (b *bases) descend(at place, chain *[]link) (object.Kind, []byte, error) {
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
		if e.kind < ofsDelta {
			if len(*chain) > 0 {
				b.cache.put(at, e.kind, data)
			}
			return e.kind, data, nil
		}
		if held += len(data); held > maxDeltaBytes {
			return 0, nil, at.p.at(at.off, corrupt("chain of deltas of %d bytes", held))
		}
		*chain = append(*chain, link{at, data})
		if at, err = b.base(at, e); err != nil {
			return 0, nil, err
		}
	}
	return 0, nil, at.p.at(at.off, corrupt("chain of more than %d deltas", maxChain))
}

// open streams an object that is not a delta from a file of its own, so that the
// pack may be taken away meanwhile. Deltas need memory anyway.
func (o packed) open(id object.ID) (object.Kind, int64, io.ReadCloser, error) {
	e, z, err := o.p.inflaterAt(o.off)
	if err != nil {
		return 0, 0, nil, err
	}
	z.release()
	if e.kind >= ofsDelta || e.size <= inMemory {
		return openRead(o, id)
	}
	body, err := o.p.data()
	if err != nil {
		return 0, 0, nil, err
	}
	f, err := atomicfile.Open(o.p.stem + packExt)
	if err != nil {
		return 0, 0, nil, o.p.wrap(packExt, err)
	}
	s := &stream{file: f, inflater: newInflater(f, o.off, body.end), id: id, what: fmt.Sprintf("%s: entry at %d", f.Name(), o.off)}
	if e, err = s.inflater.entry(o.off); err == nil {
		err = s.inflater.plausible(e.size)
	}
	if err != nil {
		s.Close()
		return 0, 0, nil, o.p.at(o.off, err)
	}
	s.begin(e.kind, e.size)
	return e.kind, e.size, s, nil
}
