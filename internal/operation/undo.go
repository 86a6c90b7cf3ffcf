package operation

import (
	"context"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Undo takes back the last restore, revert or redo that was not taken back yet: any
// number of levels, across processes. It touches only what that operation touched. The
// policy decides about later changes; the default is Merge. An undo is an operation
// itself, which Redo takes back.
//
// The error wraps ErrNotFound when there is nothing to undo.
func (r *Operator) Undo(ctx context.Context, opt RevertOptions) (*Result, error) {
	return r.takeBackNewest(ctx, "undo", opt)
}

// Redo takes back the last undo. Once something else was restored or reverted there
// is nothing to redo.
func (r *Operator) Redo(ctx context.Context, opt RevertOptions) (*Result, error) {
	return r.takeBackNewest(ctx, "redo", opt)
}

// takeBackNewest chooses the operation with the store locked: the operation of a dead process is
// finished by then, and that of a living one is over.
func (r *Operator) takeBackNewest(ctx context.Context, kind string, opt RevertOptions) (res *Result, err error) {
	var joint *history.Operation
	err = r.Capturing(ctx, func(l *history.Locked) error {
		op, err := r.NextToTakeBack(ctx, kind, opt.PassSessions, opt.beyond())
		if err != nil {
			return err
		}
		if op == nil {
			return state.NotFound("nothing to %s", kind)
		}
		if r.everywhere(op, &opt) {
			joint = op
			return nil
		}
		if err := r.Enabled(); err != nil && !opt.DryRun {
			return err
		}
		res, err = r.takeBackOperation(ctx, l, kind, op, opt)
		return err
	})
	if err == nil && joint != nil {
		return r.takeBackJoint(ctx, kind, joint, opt)
	}
	return res, err
}

// FinishInterrupted finishes the operation of a dead process, if there is one. The next lookup of
// operations finds it. It waits for the operation of a living one.
func (r *Operator) FinishInterrupted(ctx context.Context) error {
	if !r.UnderWay() {
		return nil
	}
	return r.Exclusive(ctx, func(*history.Locked) error { return nil })
}

// checkTakeBack refuses options that an undo and a redo do not have.
func checkTakeBack(kind string, opt RevertOptions) error {
	if opt.chooses() {
		return fmt.Errorf("%s takes an operation back as a whole or by paths: Hunks and Lines are for a revert", kind)
	}
	if opt.Git && len(opt.Paths) > 0 {
		return fmt.Errorf("%s takes git back as a whole, not by paths", kind)
	}
	if err := opt.checkOutside(); err != nil {
		return err
	}
	return checkPolicy(opt.OnConflict)
}

// beyond says which operations count.
func (o *RevertOptions) beyond() history.Beyond {
	return history.Beyond{Git: o.Git, Outside: o.Outside}
}

// NextToTakeBack is the operation that an undo, or a redo, would take back; nil if
// there is none. It reads no more operations than have been taken back since. With
// passSessions, moves of lines with records do not count.
func (r *Operator) NextToTakeBack(ctx context.Context, kind string, passSessions bool, beyond history.Beyond) (*history.Operation, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ops := r.Operations(ctx)
	if passSessions {
		ops = r.WithoutLines(ops)
	}
	return history.Latest(kind, history.Counting(ops, beyond))
}

// takeBackOperation goes from the state after an operation to the one before it.
func (r *Operator) takeBackOperation(
	ctx context.Context, l *history.Locked, kind string, op *history.Operation, opt RevertOptions,
) (*Result, error) {
	if err := checkTakeBack(kind, opt); err != nil {
		return nil, err
	}
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
	within := history.ChangedScope(op, scope)
	if scope != nil && len(within.Named()) == 0 {
		return nil, state.NotFound("nothing to %s in these paths", kind)
	}
	req := opRequest{kind: kind, target: before.ID, undoes: op.ID, dryRun: opt.DryRun, planID: opt.Plan, joint: opt.joint}
	if scope != nil {
		req.scope = scope.Paths
	}
	if opt.Git {
		req.git = &gitBack{}
		if len(op.Git) > 0 {
			req.git.Ways = []gitWay{{Before: op.Before, After: op.After}}
		}
	}
	if opt.Outside {
		records, err := r.OutsideRecords(op)
		if err != nil {
			return nil, err
		}
		req.outside = &outsideBack{policy: opt.policy()}
		for _, id := range records {
			req.outside.ways = append(req.outside.ways, []string{id})
		}
	}
	gone, err := r.deletedBy(op, after)
	if err != nil {
		return nil, err
	}
	makePlan, err := r.takingBack(ctx, before, after, takeBackOptions{
		within: within, policy: opt.policy(), made: history.CreatedBy(op), gone: gone,
	})
	if err != nil {
		return nil, err
	}
	return r.operateLocked(ctx, l, req, makePlan)
}

// deletedBy lists the paths of an operation that the state after it does not hold. The state has every file that the
// operation has written, so they were deleted, or are directories.
func (r *Operator) deletedBy(op *history.Operation, after *history.Checkpoint) (gone []string, err error) {
	s, err := history.StateOf(after)
	if err != nil || len(s.Meta.Skipped) == 0 {
		return nil, err
	}
	for _, path := range op.Paths {
		e, err := r.EntryOrNil(s.Tree, path)
		if err != nil {
			return nil, err
		}
		if e == nil {
			gone = append(gone, path)
		}
	}
	return gone, nil
}
