package history

import (
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// checkpointReader reads one checkpoint, as Store.ReadCheckpoint does.
type checkpointReader func(id object.ID) (*Checkpoint, error)

// outlines caches the part of checkpoints that a walk needs, so that a Repo that stays open does
// not read every newer commit again to find an old one by its tree. Commits never change, so an
// outline is valid as long as its commit is reachable. The zero value is ready.
type outlines struct {
	mu    sync.Mutex
	known map[object.ID]*Checkpoint
}

// maxOutlines is the largest number of cached outlines. One takes about 700 bytes.
const maxOutlines = 20_000

// outline returns a checkpoint with only its tree, time, first parent and two headers: one marks an
// event of a line, the other is a checksum of the metadata. It can be compared with other outlines
// only.
func (r *Store) outline(id object.ID) (*Checkpoint, error) {
	// A cleaning by another process may end a line here: a walk must not go on behind the end.
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
	if len(c.commit.Parents) > 0 { // a commit without parents is not cached: it may be the end of a line, and that end can move
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
