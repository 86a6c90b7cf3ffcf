package transfer

import (
	"context"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// ancestry answers what commits of the store lead to.
type ancestry struct {
	ctx    context.Context
	of     parentsOf
	ends   odb.Ends
	known  map[object.ID]bool // the remote has them, or they were found whole
	behind map[object.ID]bool // all that the remote has, as far as it is here; nil = not walked yet
}

// ancestry begins with the parts that a remote has.
func (r *Transport) ancestry(ctx context.Context, parts []envelope.Part) *ancestry {
	of := func(id object.ID) ([]object.ID, error) {
		c, err := r.ReadCheckpoint(id)
		if err != nil {
			return nil, err
		}
		return history.CommitOf(c).Parents, nil
	}
	return &ancestry{ctx: ctx, of: of, ends: r.DB.Ends(), known: r.tipsHere(parts)}
}

// parentsOf reads the parents of a commit.
type parentsOf func(object.ID) ([]object.ID, error)

// walk visits commits from some on, first parents first, each once, until visit wants no parents or no more at
// all. err says why the parents of a commit are not known.
func (of parentsOf) walk(ctx context.Context, from []object.ID, visit func(id object.ID, err error) (on, stop bool)) error {
	seen := make(map[object.ID]bool)
	for queue := from; len(queue) > 0; {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		if err := ctx.Err(); err != nil {
			return err
		}
		parents, err := of(id)
		on, stop := visit(id, err)
		if stop {
			return nil
		}
		if on {
			for _, p := range slices.Backward(parents) { // a line goes on along first parents
				queue = append(queue, p)
			}
		}
	}
	return nil
}

// leadTo reports whether a commit is another one or leads to it.
func (of parentsOf) leadTo(ctx context.Context, from, to object.ID) (found bool, err error) {
	err = of.walk(ctx, []object.ID{from}, func(id object.ID, _ error) (on, stop bool) {
		found = id == to
		return true, found
	})
	return found, err
}

// whole reports whether all that a commit leads to is in the store or on the remote.
func (a *ancestry) whole(tip object.ID) (whole bool, err error) {
	whole = true
	var met []object.ID
	err = a.of.walk(a.ctx, []object.ID{tip}, func(id object.ID, err error) (on, stop bool) {
		switch {
		case a.known[id]:
			return false, false
		case err != nil || a.ends.Has(id) && !a.has(id):
			whole = false
			return false, true
		}
		met = append(met, id)
		return true, false
	})
	if err != nil || !whole {
		return false, err
	}
	for _, id := range met {
		a.known[id] = true
	}
	return true, nil
}

// has reports whether one of the tips on the remote leads to a commit.
func (a *ancestry) has(id object.ID) bool {
	if a.behind == nil {
		a.behind = make(map[object.ID]bool)
		var tips []object.ID
		for tip := range a.known {
			tips = append(tips, tip)
		}
		_ = a.of.walk(a.ctx, tips, func(id object.ID, err error) (on, stop bool) { // whole sees the end of the context
			a.behind[id] = err == nil
			return err == nil, false
		})
	}
	return a.behind[id]
}

// leads reports whether a commit is another one, which is in the store, or leads to it.
func (a *ancestry) leads(from, to object.ID) (found bool, err error) {
	if _, err := a.of(to); err != nil {
		return false, nil
	}
	return a.of.leadTo(a.ctx, from, to)
}
