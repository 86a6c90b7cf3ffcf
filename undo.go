package cairn

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Operation is a restore, revert, undo or redo that was carried out. Before and After are
// checkpoints. Before holds every file that the operation overwrote or deleted.
type Operation = history.Operation

// Operations yields the operations of this root, newest first. An error ends the
// iteration.
func (r *Repo) Operations(ctx context.Context) iter.Seq2[*Operation, error] {
	return r.store.Operations(ctx)
}

// Undo takes back the last restore, revert, merge or redo not taken back yet: any number of
// levels, across processes. It touches only the paths of that operation. The policy, Merge by
// default, decides about paths that were changed since. An undo is an operation itself, which Redo
// takes back.
//
// The error wraps ErrNotFound when there is nothing to undo.
func (r *Repo) Undo(ctx context.Context, opt RevertOptions) (*Result, error) {
	return r.operator.Undo(ctx, opt)
}

// Redo takes back the last undo. After another restore, revert or merge there is nothing to redo.
func (r *Repo) Redo(ctx context.Context, opt RevertOptions) (*Result, error) {
	return r.operator.Redo(ctx, opt)
}
