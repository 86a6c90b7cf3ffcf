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

// Log yields the checkpoints that Checkpoints yields and opt selects, newest first. Every change of
// the paths, or of how often the text is there, is told once: by the checkpoint on whose line it
// shows, or by the first one that has it. Of several such checkpoints those count whose author is
// named, as an agent's steps are; steps that overlap are all told. Checkpoint.ComparedWith names the
// state before the change. If no checkpoint ever had one of the paths, the last error wraps
// ErrNotFound.
func (r *Repo) Log(ctx context.Context, opt LogOptions) iter.Seq2[*Checkpoint, error] {
	return r.store.LogOf(ctx, opt)
}
