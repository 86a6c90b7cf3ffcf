package cairn

import (
	"context"
	"iter"
)

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
