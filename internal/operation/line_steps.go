package operation

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// ErrNotInPaths is an ErrNotFound: a change has nothing in the paths that its way back is narrowed to.
var ErrNotInPaths = state.NotFound("nothing of this change is in these paths")

// RevertSteps takes steps out of the present state, oldest first given. Steps that are not given
// count as later changes. The operation moves no line. target is the checkpoint that it names.
func (u *LineUpdate) RevertSteps(ctx context.Context, steps []UndoneStep, target string, opt RevertOptions) (*Result, error) {
	if err := checkPolicy(opt.OnConflict); err != nil {
		return nil, err
	}
	if err := opt.checkOutside(); err != nil {
		return nil, err
	}
	opt.outside = outsideWaysOf(steps)
	within, err := u.repo.ScopeOf(opt.Paths)
	if err != nil {
		return nil, err
	}
	disk, err := u.capture(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := u.publishFor(ctx); err != nil {
		return nil, err
	}
	defer disk.SaveUnlessSaved(ctx, u.lock)
	b := u.newStepsBack(disk.State(), opt.policy())
	if err := b.resolveAll(ctx, steps); err != nil {
		return nil, err
	}
	if within != nil && !b.changedIn(within) {
		return nil, ErrNotInPaths
	}
	b.narrow(within)
	p, err := u.planWithout(ctx, b)
	if err != nil {
		return nil, err
	}
	return u.revert(ctx, p, target, opt)
}

// revert carries out a plan for the captured disk as an operation that moves no line.
func (u *LineUpdate) revert(ctx context.Context, p *plan.Plan, target string, opt RevertOptions) (*Result, error) {
	req := opRequest{kind: "revert", target: target, dryRun: opt.DryRun, planID: opt.Plan, joint: u.joint}
	if opt.Outside {
		req.outside = &outsideBack{ways: opt.outside, policy: opt.policy()}
	}
	res, err := u.repo.operateOn(ctx, u.lock, req, u.disk, p)
	if err == nil && !opt.DryRun {
		u.ForgetDisk() // the capture is not the disk any more
	}
	return res, err
}

// changedIn reports whether the steps changed a path in a scope, or may have: most likely a path that they did
// not change is a typing error.
func (b *stepsBack) changedIn(within *state.PathScope) bool {
	for path := range b.ways {
		if within.Covers(path) {
			return true
		}
	}
	for dir := range b.dirs {
		if within.Covers(dir) {
			return true
		}
	}
	covered := func(p state.PathReason) bool { return within.Covers(string(p.Path)) }
	return slices.ContainsFunc(b.kept, covered) || slices.ContainsFunc(b.conflicts, covered) ||
		slices.ContainsFunc(b.leftOut, func(l plan.LeftOut) bool { return covered(l.PathReason) })
}

// narrow leaves paths out of a scope as they are.
func (b *stepsBack) narrow(within *state.PathScope) {
	maps.DeleteFunc(b.want, func(path string, _ history.PathEnd) bool { return !within.Covers(path) })
	maps.DeleteFunc(b.dirs, func(dir string, ends dirEnds) bool { return ends.listed && !within.Covers(dir) })
	outside := func(p state.PathReason) bool { return !within.Covers(string(p.Path)) }
	b.kept, b.conflicts = slices.DeleteFunc(b.kept, outside), slices.DeleteFunc(b.conflicts, outside)
	b.leftOut = slices.DeleteFunc(b.leftOut, func(l plan.LeftOut) bool { return outside(l.PathReason) })
}

// planWithout plans the difference between the present state and the same without the steps.
func (u *LineUpdate) planWithout(ctx context.Context, b *stepsBack) (*plan.Plan, error) {
	batch := u.repo.DB.NewBatch()
	defer batch.Discard()
	to, err := b.state(ctx, batch)
	if err != nil {
		return nil, err
	}
	if err := batch.Commit(); err != nil {
		return nil, err
	}
	p, _, err := u.planSteps(ctx, b, to, b.start, nil)
	return p, err
}
