package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// past is what a directory went through: the checkpoints of its store and the states before and
// after its operations, newest first.
type past struct {
	store  *history.Store
	states []*history.Checkpoint
	own    map[string]bool     // ids of states
	back   map[string]string   // by the checkpoint after an operation: the state that it went to
	merged map[string]string   // by the checkpoint after a complete merge in effect: its target
	former map[string][]string // by the id of a rewritten state, or of its tree: those that it had before
}

func pastOf(ctx context.Context, s *history.Store) (*past, error) {
	p := &past{
		store: s, own: make(map[string]bool), back: make(map[string]string), merged: make(map[string]string),
		former: make(map[string][]string),
	}
	for old, now := range s.ReadReplaced() {
		p.former[now.String()] = append(p.former[now.String()], old.String())
	}
	for c, err := range s.Checkpoints(ctx) {
		if err != nil {
			return nil, err
		}
		p.add(c)
	}
	for op, err := range s.Operations(ctx) {
		if err == nil {
			err = p.addOperation(op)
		}
		if err != nil {
			return nil, err
		}
	}
	undone, err := s.Undone(ctx, slices.Collect(maps.Keys(p.merged))...)
	maps.DeleteFunc(p.merged, func(after, _ string) bool { return undone[after] })
	slices.SortStableFunc(p.states, func(a, b *history.Checkpoint) int { return cmp.Compare(b.At(), a.At()) })
	return p, err
}

func (p *past) add(c *history.Checkpoint) {
	if !p.own[c.ID] {
		p.own[c.ID] = true
		p.states = append(p.states, c)
	}
}

func (p *past) addOperation(op *history.Operation) error {
	for _, spec := range []string{op.After, op.Before} {
		id, err := object.ParseID(spec)
		if err != nil {
			return fmt.Errorf("%w: operation %s", state.ErrCorrupt, op.ID)
		}
		c, err := p.store.ReadCheckpoint(id)
		if err != nil {
			return err
		}
		p.add(c)
	}
	switch {
	case op.Kind != kindMerge:
		p.back[op.After] = op.Target
	case !op.Narrowed() && len(op.Kept)+len(op.Conflicts) == 0:
		p.merged[op.After] = op.Target
	}
	return nil
}

// chain yields a checkpoint and the states before it, newest first. After an operation that reached
// a whole earlier state, the chain goes on from that state: what lay between was given up. A
// checkpoint that came from another store has the chain of its parents.
func (p *past) chain(ctx context.Context, from *history.Checkpoint) iter.Seq2[*history.Checkpoint, error] {
	return func(yield func(*history.Checkpoint, error) bool) {
		if !p.own[from.ID] {
			p.parents(ctx, from, yield)
			return
		}
		at := from
		for _, next := range p.states {
			if next.ID != at.ID && next.At() >= at.At() {
				continue
			}
			for at = next; at != nil; {
				if !yield(at, nil) {
					return
				}
				next = at
				var err error
				if at, err = p.target(ctx, at); err != nil {
					yield(nil, err)
					return
				}
			}
			at = next
		}
	}
}

// target returns the earlier state that an operation with this end went to, nil for any other
// checkpoint.
func (p *past) target(ctx context.Context, after *history.Checkpoint) (*history.Checkpoint, error) {
	spec := p.back[after.ID]
	if spec == "" {
		return nil, nil
	}
	target, err := p.store.Lookup(ctx, spec)
	switch {
	case errors.Is(err, state.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case target.Hash != after.Hash || target.At() >= after.At():
		return nil, nil
	}
	return target, nil
}

func (p *past) parents(ctx context.Context, c *history.Checkpoint, yield func(*history.Checkpoint, error) bool) {
	for yield(c, nil) && c.Parent != "" {
		id, err := object.ParseID(c.Parent)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			c, err = p.store.ReadCheckpoint(id)
		}
		if err != nil {
			yield(nil, err)
			return
		}
	}
}

// findCommon finds the newest state that the other side went through and that is also one of this
// directory: the same checkpoint, one that a complete merge has brought, or one that the other side
// has merged. Without any, equal states count, but for that of an empty directory.
func (m *Merger) findCommon(ctx context.Context, theirs side) (*history.Checkpoint, error) {
	here, err := pastOf(ctx, m.Store)
	if err != nil {
		return nil, err
	}
	there := here
	if theirs.store != m.Store {
		if there, err = pastOf(ctx, theirs.store); err != nil {
			return nil, err
		}
	}
	ours, err := here.ways(ctx)
	if err != nil {
		return nil, err
	}
	var equal *history.Checkpoint
	for c, err := range there.chain(ctx, theirs.at) {
		if err != nil {
			return nil, err
		}
		base, err := ours.meets(ctx, there, c)
		if base != nil || err != nil {
			return base, err
		}
		if equal == nil && history.TreeOf(c) != object.EmptyTree {
			equal = ours.byTree[c.Hash]
		}
	}
	if equal == nil {
		return nil, fmt.Errorf("%w: %s and %s have no checkpoint in common: name the state that both come from with --base", state.ErrNotFound, theirs.name, m.Root)
	}
	return equal, nil
}

// ways are the states that this directory went through up to now.
type ways struct {
	past         *past
	byID, byTree map[string]*history.Checkpoint
	brought      map[string]string // by the id where it was made: a checkpoint that a merge brought
}

func (p *past) ways(ctx context.Context) (*ways, error) {
	w := &ways{
		past: p, byID: make(map[string]*history.Checkpoint),
		byTree: make(map[string]*history.Checkpoint), brought: make(map[string]string),
	}
	if len(p.states) == 0 {
		return w, nil
	}
	for c, err := range p.chain(ctx, p.states[0]) {
		if err != nil {
			return nil, err
		}
		w.byID[c.ID] = c
		if w.byTree[c.Hash] == nil {
			w.byTree[c.Hash] = c
		}
		if target, ok := p.merged[c.ID]; ok {
			w.brought[exported(ctx, p.store, target)] = target
		}
	}
	w.addReplaced()
	return w, nil
}

// addReplaced adds the ids that states had before a purge or a repair rewrote them here.
func (w *ways) addReplaced() {
	for _, by := range []map[string]*history.Checkpoint{w.byID, w.byTree} {
		for now, former := range w.past.former {
			for _, old := range former {
				if c := by[now]; c != nil && by[old] == nil {
					by[old] = c
				}
			}
		}
	}
}

// meets returns the state here that a state of the other side leads to, nil for none.
func (w *ways) meets(ctx context.Context, there *past, c *history.Checkpoint) (*history.Checkpoint, error) {
	for _, id := range append([]string{c.ID}, there.former[c.ID]...) {
		if base := w.byID[id]; base != nil {
			return base, nil
		}
		if target, ok := w.brought[id]; ok {
			return w.past.store.Lookup(ctx, target)
		}
	}
	if target, ok := there.merged[c.ID]; ok {
		return w.byID[exported(ctx, there.store, target)], nil
	}
	return nil, nil
}

// exported is the id that a checkpoint has in the store where it was made. It is the id itself where
// the checkpoint was cleaned away.
func exported(ctx context.Context, s *history.Store, id string) string {
	c, err := s.Lookup(ctx, id)
	if err != nil {
		return id
	}
	return history.Exported(c)
}
