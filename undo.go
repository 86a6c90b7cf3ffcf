package cairn

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Undo takes back the last restore, revert or redo that was not taken back yet: any
// number of levels, across processes. It touches only what that operation touched.
// What was changed since is treated as the policy says, Merge by default. An undo
// is an operation itself, which Redo takes back.
//
// The error wraps ErrNotFound when there is nothing to undo.
func (r *operator) Undo(ctx context.Context, opt RevertOptions) (*Result, error) {
	op, err := r.nextToTakeBack(ctx, "undo")
	if err != nil {
		return nil, err
	}
	if op == nil {
		return nil, state.NotFound("nothing to undo")
	}
	return r.takeBackOperation(ctx, "undo", op, opt)
}

// Redo takes back the last undo. Once something else was restored or reverted there
// is nothing to redo.
func (r *operator) Redo(ctx context.Context, opt RevertOptions) (*Result, error) {
	op, err := r.nextToTakeBack(ctx, "redo")
	if err != nil {
		return nil, err
	}
	if op == nil {
		return nil, state.NotFound("nothing to redo")
	}
	return r.takeBackOperation(ctx, "redo", op, opt)
}

// nextToTakeBack is the operation that an undo, or a redo, would take back; nil if
// there is none. It reads no more operations than have been taken back since.
func (r *operator) nextToTakeBack(ctx context.Context, kind string) (*Operation, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return history.Latest(kind, r.Operations(ctx))
}

// takeBackOperation goes from the state after an operation to the one before it.
func (r *operator) takeBackOperation(ctx context.Context, kind string, op *Operation, opt RevertOptions) (*Result, error) {
	before, err := r.Lookup(ctx, op.Before)
	if err != nil {
		return nil, err
	}
	after, err := r.Lookup(ctx, op.After)
	if err != nil {
		return nil, err
	}
	scope, err := r.ScopeOf(opt.Paths)
	if err != nil {
		return nil, err
	}
	req := opRequest{kind: kind, target: before.ID, undoes: op.ID, dryRun: opt.DryRun, planID: opt.Plan}
	if scope != nil {
		req.scope = scope.Paths
	}
	return r.takeBack(ctx, req, before, after, takeBackOptions{within: history.ChangedScope(op, scope), policy: plan.PolicyOf(&opt, Merge), made: history.CreatedBy(op)})
}

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
