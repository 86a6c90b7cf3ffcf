package cairn

import (
	"context"
	"iter"
	"slices"

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
	return Latest(kind, r.Operations(ctx))
}

// Latest finds among operations, newest first, the last that kind has not taken back.
// Those of that kind take back what comes next, that is, was done before them. What an
// undo can take back is everything but undos; what a redo can, undos since the last
// other operation.
func Latest(kind string, ops iter.Seq2[*Operation, error]) (*Operation, error) {
	var taking []*Operation // those whose partners have not been met, the oldest last
	for op, err := range ops {
		switch {
		case err != nil:
			return nil, err
		case op.Kind == kind:
			taking = append(taking, op)
		case kind == "redo" && op.Kind != "undo":
			return nil, nil
		default:
			if op, taking = leftOf(op, taking); op != nil {
				return op, nil
			}
		}
	}
	return nil, nil
}

// leftOf is what is left of an operation after others took it back, nil for nothing:
// one may have been narrowed down to some paths. Those that found nothing left are
// returned, too.
func leftOf(op *Operation, taking []*Operation) (left *Operation, rest []*Operation) {
	for len(taking) > 0 {
		by := taking[len(taking)-1]
		taking = taking[:len(taking)-1]
		if len(by.scope) == 0 {
			return nil, taking
		}
		some := *op
		some.Paths = slices.DeleteFunc(slices.Clone(op.Paths), state.NewPathScope(by.scope).Covers)
		if op = &some; len(op.Paths) == 0 {
			return nil, taking
		}
	}
	return op, nil
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
	return r.takeBack(ctx, req, before, after, takeBackOptions{within: ChangedScope(op, scope), policy: PolicyOf(&opt, Merge), made: CreatedBy(op)})
}

// ChangedScope selects what an operation changed, as far as scope covers it. An operation lists
// every path that it changed, so that a directory stands for its bits alone.
func ChangedScope(op *Operation, scope *state.PathScope) *state.PathScope {
	var paths []string
	for _, path := range op.Paths {
		if scope.Covers(path) {
			paths = append(paths, path)
		}
	}
	return state.NewPathScope(nil).WithAlone(paths)
}

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
