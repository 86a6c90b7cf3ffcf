package cairn

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Operation is one restore or revert that was carried out. Before and After are
// checkpoints; Before holds everything that the operation overwrote or deleted.
type Operation = history.Operation

// Operations yields the operations of this root, newest first. An error ends the
// iteration.
func (r *Repo) Operations(ctx context.Context) iter.Seq2[*Operation, error] {
	return r.store.Operations(ctx)
}

// Undo takes back the last restore, revert or redo that was not taken back yet: any
// number of levels, across processes. It touches only what that operation touched.
// What was changed since is treated as the policy says, Merge by default. An undo
// is an operation itself, which Redo takes back.
//
// The error wraps ErrNotFound when there is nothing to undo.
func (r *Repo) Undo(ctx context.Context, opt RevertOptions) (*Result, error) {
	return r.operator.Undo(ctx, opt)
}

// Redo takes back the last undo. Once something else was restored or reverted there
// is nothing to redo.
func (r *Repo) Redo(ctx context.Context, opt RevertOptions) (*Result, error) {
	return r.operator.Redo(ctx, opt)
}
