package cairn

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Checkpoint is one recorded state.
//
// A Checkpoint from elsewhere than a Repo, for instance from JSON, has only the exported fields.
// Its methods return an error that wraps ErrNotFound. Repo.Lookup of its ID returns the whole
// checkpoint.
type Checkpoint = history.Checkpoint

// Checkpoints yields the checkpoints of all lines, newest first. Of a session it yields only those
// whose state differs from the one before. An error ends the iteration.
func (r *Repo) Checkpoints(ctx context.Context) iter.Seq2[*Checkpoint, error] {
	return r.store.Checkpoints(ctx)
}

// Lookup finds a checkpoint by the id of its tree (the newest with that tree), the id of its
// commit, a unique prefix of either, @ (the newest), @~N (N before it) or the name of a pin. Errors
// wrap ErrNotFound or ErrAmbiguous.
func (r *Repo) Lookup(ctx context.Context, spec string) (*Checkpoint, error) {
	return r.store.Lookup(ctx, spec)
}

// LogOptions selects checkpoints. The zero value selects all.
type LogOptions = history.LogOptions

// Log yields the checkpoints that Checkpoints yields and opt selects, newest first. A checkpoint is
// compared with the one before it on its line. The first of a line is compared with the newest
// older one of any line. If no checkpoint ever had one of the paths, the last error wraps
// ErrNotFound.
func (r *Repo) Log(ctx context.Context, opt LogOptions) iter.Seq2[*Checkpoint, error] {
	return r.store.LogOf(ctx, opt)
}
