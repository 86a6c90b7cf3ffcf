package cairn

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Checkpoint is one recorded state.
//
// A Checkpoint that does not come from a Repo, for instance from JSON, has the exported
// fields alone: its methods answer with an error that wraps ErrNotFound, and Repo.Lookup
// of its ID gives the whole one.
type Checkpoint = history.Checkpoint

// Checkpoints yields the checkpoints of all lines, newest first; of a session those at
// which something had changed. An error ends the iteration.
func (r *Repo) Checkpoints(ctx context.Context) iter.Seq2[*Checkpoint, error] {
	return r.store.Checkpoints(ctx)
}

// Lookup finds a checkpoint by the id of its tree (the newest with that tree) or of
// its commit, a unique prefix of either, @ (the newest), @~N (N before it) or the
// name of a pin.
// Errors wrap ErrNotFound or ErrAmbiguous.
func (r *Repo) Lookup(ctx context.Context, spec string) (*Checkpoint, error) {
	return r.store.Lookup(ctx, spec)
}
