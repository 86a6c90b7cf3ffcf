package history

import (
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// checkpointReader reads one checkpoint, as Repo.readCheckpoint does.
type checkpointReader func(id object.ID) (*Checkpoint, error)

// outlines remembers of checkpoints what a walk over them needs, so that finding an old
// one by its tree costs a Repo that stays open no reading of all that came after it.
// Commits never change: what is remembered is true for as long as something refers to
// the commit. The zero value is ready.
type outlines struct {
	mu    sync.Mutex
	known map[object.ID]*Checkpoint
}

// maxOutlines bounds their number. One takes about 700 bytes.
const maxOutlines = 20_000

// outline returns a checkpoint with no more than its tree, time and first parent, and
// with headers that tell an event of a line from others and equal metadata from
// different ones. It compares with outlines only.
func (r *Store) outline(id object.ID) (*Checkpoint, error) {
	// The end of a line moves when others clean: behind it nothing is left to walk to.
	if o := r.outlines.get(id); o != nil && !r.DB.EndsLine(id) {
		return o, nil
	}
	c, err := r.ReadCheckpoint(id)
	if err != nil {
		return nil, err
	}
	o := &Checkpoint{When: c.When, id: c.id, tree: c.tree, commit: &object.CommitData{
		Extra: []object.Header{{Key: state.MetadataHeader, Value: state.Checksum(c.commit.Header(state.MetadataHeader))}},
	}}
	if c.commit.Header(LineHeader) != "" {
		o.commit.Extra = append(o.commit.Extra, object.Header{Key: LineHeader, Value: "event"})
	}
	if len(c.commit.Parents) > 0 { // else it may be the end of a line only now
		o.commit.Parents = []object.ID{c.commit.Parents[0]}
		r.outlines.put(o)
	}
	return o, nil
}

func (o *outlines) get(id object.ID) *Checkpoint {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[id]
}

func (o *outlines) put(c *Checkpoint) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil || len(o.known) >= maxOutlines {
		o.known = make(map[object.ID]*Checkpoint)
	}
	o.known[c.id] = c
}
