package lastdone

import (
	"context"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/session"
)

// movedBeyond reports whether a turn has changed something beyond the files of the root that counts: the
// user's git repository, or paths outside the root.
func (f *Finder) movedBeyond(ctx context.Context, c *Choice) (bool, error) {
	steps := c.Turn.Steps()
	if f.Outside {
		for i := range steps {
			for _, change := range steps[i].Outside {
				if change.Left == "" {
					c.Outside = append(c.Outside, string(change.Path))
				}
			}
		}
		slices.Sort(c.Outside)
		c.Outside = slices.Compact(c.Outside)
	}
	if !f.Git {
		return len(c.Outside) > 0, nil
	}
	for _, s := range steps {
		moved, err := f.movedIn(ctx, &s)
		if moved || err != nil {
			c.Moved = moved
			return moved, err
		}
	}
	return len(c.Outside) > 0, nil
}

func (f *Finder) movedIn(ctx context.Context, s *session.Step) (bool, error) {
	if s.Open() && !f.EndOpen {
		return false, nil
	}
	return access.Lines(f.Repo).GitMoved(ctx, s.Before.ID, s.After.ID)
}
