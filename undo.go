package cairn

import (
	"context"
	"slices"
)

// Undo takes back the last restore, revert or redo that was not taken back yet: any
// number of levels, across processes. It touches only what that operation touched.
// What was changed since is treated as the policy says, Merge by default. An undo
// is an operation itself, which Redo takes back.
//
// The error wraps ErrNotFound when there is nothing to undo.
func (r *Repo) Undo(ctx context.Context, opt RevertOptions) (*Result, error) {
	done, _, err := r.undoStacks(ctx)
	if err != nil {
		return nil, err
	}
	if len(done) == 0 {
		return nil, notFound("nothing to undo")
	}
	return r.takeBackOperation(ctx, "undo", done[len(done)-1], opt)
}

// Redo takes back the last undo. Once something else was restored or reverted there
// is nothing to redo.
func (r *Repo) Redo(ctx context.Context, opt RevertOptions) (*Result, error) {
	_, undone, err := r.undoStacks(ctx)
	if err != nil {
		return nil, err
	}
	if len(undone) == 0 {
		return nil, notFound("nothing to redo")
	}
	return r.takeBackOperation(ctx, "redo", undone[len(undone)-1], opt)
}

// undoStacks replays the operations: what can be undone and what can be redone, the
// next one last.
func (r *Repo) undoStacks(ctx context.Context) (done, undone []*Operation, err error) {
	var all []*Operation
	for op, err := range r.Operations(ctx) {
		if err != nil {
			return nil, nil, err
		}
		all = append(all, op)
	}
	slices.Reverse(all)
	for _, op := range all {
		switch op.Kind {
		case "undo":
			done, undone = takenBack(done, op), append(undone, op)
		case "redo":
			done, undone = append(done, op), takenBack(undone, op)
		default:
			done, undone = append(done, op), nil
		}
	}
	return done, undone, nil
}

// takenBack is the stack after its last operation was taken back by op: without it,
// or with what is left of it where op was narrowed down to some paths. An operation
// whose partner has expired finds nothing.
func takenBack(stack []*Operation, op *Operation) []*Operation {
	if len(stack) == 0 {
		return nil
	}
	last := stack[len(stack)-1]
	stack = stack[:len(stack)-1]
	if len(op.scope) == 0 {
		return stack
	}
	scope := newPathScope(op.scope)
	rest := *last
	rest.Paths = slices.DeleteFunc(slices.Clone(last.Paths), scope.covers)
	if len(rest.Paths) == 0 {
		return stack
	}
	return append(stack, &rest)
}

// takeBackOperation goes from the state after an operation to the one before it.
func (r *Repo) takeBackOperation(ctx context.Context, kind string, op *Operation, opt RevertOptions) (*Result, error) {
	before, err := r.Lookup(ctx, op.Before)
	if err != nil {
		return nil, err
	}
	after, err := r.Lookup(ctx, op.After)
	if err != nil {
		return nil, err
	}
	scope, err := r.scopeOf(opt.Paths)
	if err != nil {
		return nil, err
	}
	req := opRequest{kind: kind, target: before.ID, undoes: op.ID, dryRun: opt.DryRun, planID: opt.Plan}
	if scope == nil {
		scope = newPathScope(op.Paths)
	} else {
		req.scope = scope.paths
	}
	return r.takeBack(ctx, req, before, after, takeBackOptions{within: scope, policy: opt.policy(Merge), made: op.created})
}
