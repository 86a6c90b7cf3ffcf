package trial

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
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
	var tree object.ID
	for i, m := range moments[first : last+1] {
		ends := i == 0 || i == last-first
		if !ends && (m.Same || m.Tree == tree) {
			continue
		}
		c, err := repo.Lookup(ctx, m.ID.String())
		if err != nil {
			return nil, err
		}
		steps, tree = append(steps, c), m.Tree
	}
	return steps, nil
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
