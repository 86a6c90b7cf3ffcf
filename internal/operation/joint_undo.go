package operation

import (
	"context"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/gitrestore"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// everywhere reports whether an operation goes back in all its roots. Paths belong to this root. An
// operation from before a fork goes back in the fork alone.
func (r *Operator) everywhere(op *history.Operation, o *RevertOptions) bool {
	return op.Joint != nil && !o.ThisRoot && len(o.Paths) == 0 && r.ForkedAt(op.When.UnixNano()) == ""
}

// jointUndo takes an operation of several roots back.
type jointUndo struct {
	*Operator
	kind string
	op   *history.Operation // share of this root
	opt  RevertOptions
}

func (r *Operator) takeBackJoint(ctx context.Context, kind string, op *history.Operation, opt RevertOptions) (*Result, error) {
	if err := checkTakeBack(kind, opt); err != nil {
		return nil, err
	}
	if opt.Git {
		return nil, ErrGitInRoots
	}
	roots := []*Operator{r}
	for _, root := range r.Elsewhere(op.Joint.Roots) {
		other, err := r.Beside(root)
		if err != nil {
			return nil, ThisRootAlone(root, err)
		}
		roots = append(roots, other)
	}
	byRoot(roots)
	u := &jointUndo{r, kind, op, opt}
	var res *Result
	err := lockAll(ctx, roots, func(locks []*history.Locked) (err error) {
		res, err = u.together(ctx, roots, locks)
		return err
	})
	return res, err
}

// ErrGitInRoots refuses to move the user's git repositories of several roots at once.
var ErrGitInRoots = fmt.Errorf("%w: git goes back in one directory at a time, and this is the work of several: take it back without git, or with --this-root in each", gitrestore.ErrRefused)

// ThisRootAlone is the error about another root that cannot take part.
func ThisRootAlone(root string, err error) error {
	return fmt.Errorf("%w, %s: %w (nothing was changed; --this-root goes on without it)", state.ErrOtherRoot, root, err)
}

// together takes the shares back that are still in effect.
func (u *jointUndo) together(ctx context.Context, roots []*Operator, locks []*history.Locked) (*Result, error) {
	newest, err := u.NextToTakeBack(ctx, u.kind, u.opt.PassSessions, u.opt.beyond())
	if err != nil {
		return nil, err
	}
	if newest == nil || newest.ID != u.op.ID {
		return nil, fmt.Errorf("%w: another command has changed what the next %s takes back", state.ErrMoved, u.kind)
	}
	var shares []Share
	head := 0
	for i, r := range roots {
		op := newest
		if r != u.Operator {
			share, undone, err := r.ShareOf(ctx, u.op.Joint.ID)
			if err == nil && share == nil {
				err = state.NotFound("operation %s, which has been cleaned away", u.op.Joint.ID)
			}
			if err != nil {
				return nil, ThisRootAlone(r.Root, err)
			}
			if undone {
				continue
			}
			op = share
		} else {
			head = len(shares)
		}
		shares = append(shares, u.share(ctx, r, locks[i], op))
	}
	return Together(shares, head, u.opt.DryRun, u.opt.Plan)
}

func (u *jointUndo) share(ctx context.Context, r *Operator, l *history.Locked, op *history.Operation) Share {
	return Share{Root: r.Root, Run: func(dryRun bool, plan string, joint *Joint) (*Result, error) {
		if err := r.Enabled(); err != nil && !dryRun {
			return nil, err
		}
		opt := u.opt
		opt.DryRun, opt.Plan, opt.joint = dryRun, plan, joint
		return r.takeBackOperation(ctx, l, u.kind, op, opt)
	}}
}
