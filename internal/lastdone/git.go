package lastdone

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/session"
)

// movedGit reports whether a turn has moved the user's git repository, where that counts.
func (f *Finder) movedGit(ctx context.Context, c *Choice) (bool, error) {
	if !f.Git {
		return false, nil
	}
	for _, s := range c.Turn.Steps() {
		moved, err := f.movedIn(ctx, &s)
		if moved || err != nil {
			c.Moved = moved
			return moved, err
		}
	}
	return false, nil
}

func (f *Finder) movedIn(ctx context.Context, s *session.Step) (bool, error) {
	if s.Open() && !f.EndOpen {
		return false, nil
	}
	return access.Lines(f.Repo).GitMoved(ctx, s.Before.ID, s.After.ID)
}
