package pack

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

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
