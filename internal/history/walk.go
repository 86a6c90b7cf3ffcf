package history

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Checkpoints yields the checkpoints of all lines, newest first. Of a session it yields only those
// whose state differs from the one before. An error ends the iteration.
func (r *Store) Checkpoints(ctx context.Context) iter.Seq2[*Checkpoint, error] {
	return r.checkpointsOf(ctx, ownLines, false)
}

// lines are those whose refs have one of the prefixes, or lines of another store.
type lines struct {
	prefixes []string
	foreign  []odb.Ref // all of them; nil = the lines are this store's own
}

// ownLines are the lines of this store, which are states of one disk.
var ownLines = lines{prefixes: []string{RefTracks, RefSessions, RefLost}}

// refs lists the refs of the lines.
func (of *lines) refs(r *Store) ([]odb.Ref, error) {
	if of.foreign != nil {
		return of.foreign, nil
	}
	return r.refsBelow(of.prefixes...)
}

// checkpointsOf yields the checkpoints of lines, newest first. With captures it yields the events of sessions that were
// captured, too: another line may have had other states in between.
func (r *Store) checkpointsOf(ctx context.Context, of lines, captures bool) iter.Seq2[*Checkpoint, error] {
	return func(yield func(*Checkpoint, error) bool) {
		w, tips, err := r.newWalk(of)
		if err == nil {
			w.captures, w.foreign = captures, of.foreign != nil
		}
		for i, tip := range tips {
			if tips[i], err = w.skipUnchanged(tip); err != nil {
				break
			}
		}
		if err != nil {
			yield(nil, err)
			return
		}
		w.run(ctx, tips, yield, func(c *Checkpoint) ([]*Checkpoint, error) {
			before, err := w.before(c)
			if err != nil || before == nil {
				return nil, err
			}
			if before, err = w.skipUnchanged(before); err != nil {
				return nil, err
			}
			return []*Checkpoint{before}, nil
		})
	}
}

// otherStates yields every checkpoint that can be reached from a pin, an imported
// checkpoint or a line of another store, newest first. A line that cannot be read is left
// out: it may be damaged, but it is not this store's own history.
func (r *Store) otherStates(ctx context.Context) iter.Seq2[*Checkpoint, error] {
	return func(yield func(*Checkpoint, error) bool) {
		w, tips, err := r.newWalk(lines{prefixes: []string{RefPins, RefImported, RefRemotes}})
		if err != nil {
			yield(nil, err)
			return
		}
		w.run(ctx, tips, yield, func(c *Checkpoint) (before []*Checkpoint, err error) {
			for _, id := range c.commit.Parents {
				if parent, err := w.read(id); err == nil {
					before = append(before, parent)
				}
			}
			return before, nil
		})
	}
}

// walk is one way back over checkpoints, newest first.
type walk struct {
	repo  *Store
	ends  Ends // read once, because a look at the file costs as much as a small commit
	queue newestFirst
	seen  map[object.ID]bool // forks share ancestors
	last  *Checkpoint        // read last; an event is compared with the one before it, which is next

	captures bool // no event that was captured is skipped
	foreign  bool // a line that cannot be read further ends there: it is not this store's own history
}

// newWalk reads the newest commits of lines. Damage to one line does not hide the others: a ref that
// cannot be read is logged and left out.
func (r *Store) newWalk(of lines) (w *walk, tips []*Checkpoint, err error) {
	w = &walk{repo: r, ends: r.Ends(), seen: make(map[object.ID]bool)}
	refs, err := of.refs(r)
	if err != nil {
		return nil, nil, err
	}
	for _, ref := range refs {
		var tip *Checkpoint
		if err = ref.Err; err == nil {
			tip, err = w.read(ref.ID)
		}
		if err != nil {
			r.Log.Warn("line left out", "ref", ref.Name, "error", err)
			continue
		}
		tips = append(tips, tip)
	}
	return w, tips, nil
}

// refsBelow lists the refs with the prefixes.
func (r *Store) refsBelow(prefixes ...string) (all []odb.Ref, err error) {
	for _, prefix := range prefixes {
		refs, err := r.DB.Refs(prefix)
		if err != nil {
			return nil, err
		}
		all = append(all, refs...)
	}
	return all, nil
}

func (w *walk) read(id object.ID) (c *Checkpoint, err error) {
	if w.last == nil || w.last.id != id {
		if c, err = w.repo.readBy(id, w.ends); err != nil {
			return nil, err
		}
		w.last = c
	}
	return w.last, nil
}

// before reads the checkpoint before c on its line, nil for the first one. A cleaning by another
// process may cut the line or thin it during the walk.
func (w *walk) before(c *Checkpoint) (*Checkpoint, error) {
	if len(c.commit.Parents) == 0 {
		return nil, nil
	}
	before, err := w.read(c.commit.Parents[0])
	if err != nil && w.foreign {
		w.repo.Log.Warn("older part of a line left out", "checkpoint", c.ID, "error", err)
		return nil, nil
	}
	if !errors.Is(err, odb.ErrNotFound) {
		return before, err
	}
	again, gone := w.repo.ReadCheckpoint(c.id)
	switch {
	case gone != nil || again.Parent == c.Parent:
		return nil, err
	case again.Parent == "":
		return nil, nil
	}
	return w.read(again.commit.Parents[0])
}

// skipUnchanged goes back from a line's event to the oldest one with the same state.
func (w *walk) skipUnchanged(c *Checkpoint) (*Checkpoint, error) {
	for record := c.commit.Header(LineHeader); record != "" && !(w.captures && captured(record)); record = c.commit.Header(LineHeader) {
		before, err := w.before(c)
		if err != nil {
			return nil, err
		}
		if before == nil || before.tree != c.tree || before.commit.Header(state.MetadataHeader) != c.commit.Header(state.MetadataHeader) {
			break
		}
		c = before
	}
	return c, nil
}

// run yields the tips and, by the function parents, their ancestors, newest first.
func (w *walk) run(
	ctx context.Context, tips []*Checkpoint, yield func(*Checkpoint, error) bool,
	parents func(*Checkpoint) ([]*Checkpoint, error),
) {
	for line, tip := range tips {
		w.push(line, tip)
	}
	for w.queue.Len() > 0 {
		c := heap.Pop(&w.queue).(*Checkpoint)
		err := ctx.Err()
		if err == nil {
			if !yield(c, nil) {
				return
			}
			var before []*Checkpoint
			before, err = parents(c)
			w.push(c.line, before...)
		}
		if err != nil {
			yield(nil, err)
			return
		}
	}
}

// push adds the checkpoints of a line that the walk has not met yet.
func (w *walk) push(line int, list ...*Checkpoint) {
	for _, c := range list {
		if !w.seen[c.id] {
			w.seen[c.id] = true
			c.line = line
			heap.Push(&w.queue, c)
		}
	}
}

// newestFirst is a heap of checkpoints by time, then by line. A line keeps its own order whatever the
// clock did, because a parent is pushed after its child was popped.
type newestFirst []*Checkpoint

func (q newestFirst) Len() int { return len(q) }

func (q newestFirst) Less(i, j int) bool {
	a, b := q[i], q[j]
	if a.at != b.at {
		return a.at > b.at
	}
	return cmp.Or(cmp.Compare(a.line, b.line), strings.Compare(a.ID, b.ID)) > 0
}

func (q newestFirst) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *newestFirst) Push(x any) { *q = append(*q, x.(*Checkpoint)) }

func (q *newestFirst) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
