package trial

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Steps lists the states from one checkpoint to a later one in the order in which the disk had them.
// Of equal states in a row the first one is listed. Without a first checkpoint the oldest state is it.
func Steps(ctx context.Context, repo *cairn.Repo, from, to *cairn.Checkpoint) ([]*cairn.Checkpoint, error) {
	moments, err := access.Timeline(ctx, repo)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(moments, is(to)) { // from elsewhere: only its own line is known
		if moments, err = access.Ancestors(ctx, repo, to); err != nil {
			return nil, err
		}
	}
	last := slices.IndexFunc(moments, is(to))
	first := 0
	if from != nil {
		first = slices.IndexFunc(moments, is(from))
	}
	if first < 0 || last < 0 || first >= last {
		return nil, fmt.Errorf("%w: no history leads from %s to %s (FROM is the older one)", cairn.ErrNotFound, short(from), short(to))
	}
	var steps []*cairn.Checkpoint
	var before *history.Moment // the last one that is listed
	for i := range moments[first : last+1] {
		m := &moments[first+i]
		if i > 0 && i < last-first {
			if same, err := saysNothing(ctx, repo, m, before); err != nil {
				return nil, err
			} else if same {
				continue
			}
		}
		c, err := repo.Lookup(ctx, m.ID.String())
		if err != nil {
			return nil, err
		}
		steps, before = append(steps, c), m
	}
	return steps, nil
}

// saysNothing reports whether a moment repeats the state of the event before it, or has that of the moment before.
func saysNothing(ctx context.Context, repo *cairn.Repo, m, before *history.Moment) (bool, error) {
	if m.Same {
		if same, err := sameState(ctx, repo, m.ID, m.Parent); same || err != nil {
			return same, err
		}
	}
	if m.Tree != before.Tree {
		return false, nil
	}
	return sameState(ctx, repo, m.ID, before.ID)
}

// sameState reports whether two checkpoints are equal in all that a copy has: files, permission bits and directories
// without files.
func sameState(ctx context.Context, repo *cairn.Repo, a, b object.ID) (bool, error) {
	one, err := stateOf(ctx, repo, a)
	if err != nil {
		return false, err
	}
	other, err := stateOf(ctx, repo, b)
	return err == nil && one.Equals(other), err
}

func stateOf(ctx context.Context, repo *cairn.Repo, id object.ID) (state.State, error) {
	c, err := repo.Lookup(ctx, id.String())
	if err != nil {
		return state.State{}, err
	}
	return history.StateOf(c)
}

func is(c *cairn.Checkpoint) func(history.Moment) bool {
	return func(m history.Moment) bool { return c != nil && m.ID.String() == c.ID }
}

func short(c *cairn.Checkpoint) string {
	if c == nil {
		return "the oldest checkpoint"
	}
	return c.ID[:12]
}
