package history

import (
	"context"
	"errors"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// Tip returns the newest checkpoint of a line. It returns nil for a line that does not exist or
// cannot be read: a damaged line must not stop new checkpoints.
func (r *Store) Tip(line string) *Checkpoint {
	id, err := r.DB.Ref(line)
	if errors.Is(err, odb.ErrNotFound) {
		return nil
	}
	if err == nil {
		var c *Checkpoint
		if c, err = r.ReadCheckpoint(id); err == nil {
			return c
		}
	}
	r.Log.Warn("line begun anew", "ref", line, "error", err)
	return nil
}

// Newest returns the newest checkpoint outside of sessions, nil if there is none.
func (r *Store) Newest(ctx context.Context) (*Checkpoint, error) {
	for c, err := range r.checkpointsOf(ctx, RefTracks) {
		return c, err
	}
	return nil, nil
}

// Today returns the ref of the day's line of checkpoints outside a session. Days are in UTC.
func (r *Store) Today() string { return RefTracks + r.Now().UTC().Format(time.DateOnly) }
