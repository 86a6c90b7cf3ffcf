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
	read   func(object.ID) (*history.Checkpoint, error)
	ends   odb.Ends
	known  map[object.ID]bool // the remote has them, or they were found whole
	behind map[object.ID]bool // all that the remote has, as far as it is here; nil = not walked yet
}

// ancestry begins with the parts that a remote has.
func (r *Transport) ancestry(ctx context.Context, parts []envelope.Part) *ancestry {
	return &ancestry{ctx: ctx, read: r.ReadCheckpoint, ends: r.DB.Ends(), known: r.tipsHere(parts)}
}

// walk visits commits from some on, first parents first, until visit wants no parents or no more at all.
func (a *ancestry) walk(from []object.ID, visit func(id object.ID, parents []object.ID, err error) (on, stop bool)) error {
	seen := make(map[object.ID]bool)
	for queue := from; len(queue) > 0; {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		if err := a.ctx.Err(); err != nil {
			return err
		}
		var parents []object.ID
		c, err := a.read(id)
		if err == nil {
			parents = slices.Clone(history.CommitOf(c).Parents)
		}
		on, stop := visit(id, parents, err)
		if stop {
			return nil
		}
		if on {
			slices.Reverse(parents) // a line goes on along first parents
			queue = append(queue, parents...)
		}
	}
	return nil
}

// whole reports whether all that a commit leads to is in the store or on the remote.
func (a *ancestry) whole(tip object.ID) (whole bool, err error) {
	whole = true
	var met []object.ID
	err = a.walk([]object.ID{tip}, func(id object.ID, _ []object.ID, err error) (on, stop bool) {
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
		_ = a.walk(tips, func(id object.ID, _ []object.ID, err error) (on, stop bool) { // whole sees the end of the context
			a.behind[id] = err == nil
			return err == nil, false
		})
	}
	return a.behind[id]
}

// leads reports whether a commit is another one or leads to it.
func (a *ancestry) leads(from, to object.ID) (found bool, err error) {
	if _, err := a.read(to); err != nil {
		return false, nil
	}
	err = a.walk([]object.ID{from}, func(id object.ID, _ []object.ID, _ error) (on, stop bool) {
		found = id == to
		return true, found
	})
	return found, err
}
