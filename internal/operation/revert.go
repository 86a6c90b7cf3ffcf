package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Range is the time between two checkpoints.
type Range struct {
	From string // the state to go back to
	To   string // the state after the changes; "" = the present
}

// RevertOptions controls a revert, an undo or a redo.
type RevertOptions struct {
	Paths      []string    // and everything below them; none = all
	OnConflict plan.Policy // "" = Overwrite for a Range without To, Merge for everything else
	DryRun     bool        // only say what would be done
	Plan       string      // id of the plan to carry out; ErrMoved if it would be another one now

	// Hunks and Lines narrow a revert down to chosen hunks, by their names or the beginnings of
	// these, and to chosen lines. Later changes of their paths are merged, also at the present.
	// An undo and a redo have none.
	Hunks []string
	Lines []LineRange

	// PassSessions: an undo or a redo passes over operations that took turns of sessions back, or
	// brought them back. Package session moves these.
	PassSessions bool

	// Git: an undo or a redo takes back, too, what the operation has changed in the user's git
	// repository, and operations that changed nothing else count. A dry run shows it first.
	Git bool

	// Outside: paths outside the root that an operation or a step of a session has changed go back, too,
	// as far as they were saved. Undo and redo then count operations that changed nothing else.
	Outside bool

	// ThisRoot: an undo or a redo takes an operation of several roots back in this root alone.
	ThisRoot bool

	joint   *Joint
	outside [][]string // records of the steps, the newest step first
}

// chooses reports whether the options choose hunks or lines.
func (o *RevertOptions) chooses() bool { return len(o.Hunks)+len(o.Lines) > 0 }

// checkOutside refuses to take paths outside the root back together with single paths and hunks.
func (o *RevertOptions) checkOutside() error {
	if o.Outside && (len(o.Paths) > 0 || o.chooses()) {
		return errors.New("Outside goes with whole steps and operations, not with Paths, Hunks and Lines")
	}
	return nil
}

// policy returns the policy of the options, or Merge if they name none.
func (o *RevertOptions) policy() plan.Policy { return cmp.Or(o.OnConflict, plan.Merge) }

// checkPolicy refuses the value of an OnConflict that is no policy.
func checkPolicy(p plan.Policy) error {
	if p == "" {
		return nil
	}
	if _, err := plan.ParsePolicy(string(p)); err != nil {
		return fmt.Errorf("OnConflict: %w", err)
	}
	return nil
}

// Revert takes back the changes of a range, and nothing else. The policy decides about paths that
// changed after Range.To.
//
// A range without To ends at the present. Overwrite, the default there, brings every path back, as
// in Restore. With another policy, the changes up to the newest checkpoint go back, and the policy
// decides about later changes.
func (r *Operator) Revert(ctx context.Context, in Range, opt RevertOptions) (*Result, error) {
	if err := checkPolicy(opt.OnConflict); err != nil {
		return nil, err
	}
	switch {
	case opt.chooses():
		return r.revertHunks(ctx, in, opt)
	case in.To != "":
		return r.revertRange(ctx, in.From, in.To, opt)
	case cmp.Or(opt.OnConflict, plan.Overwrite) != plan.Overwrite:
		return r.revertRange(ctx, in.From, "@", opt)
	}
	return r.goTo(ctx, in.From, opRequest{kind: "revert", dryRun: opt.DryRun, planID: opt.Plan}, opt.Paths, false)
}

func (r *Operator) revertRange(ctx context.Context, from, to string, opt RevertOptions) (*Result, error) {
	target, err := r.Lookup(ctx, from)
	if err != nil {
		return nil, err
	}
	base, err := r.Lookup(ctx, to)
	if err != nil {
		return nil, err
	}
	scope, err := r.ScopeOf(opt.Paths)
	if err != nil {
		return nil, err
	}
	req := opRequest{kind: "revert", target: target.ID, dryRun: opt.DryRun, planID: opt.Plan}
	return r.takeBack(ctx, req, target, base, takeBackOptions{within: scope, named: true, policy: opt.policy()})
}

type takeBackOptions struct {
	within *state.PathScope
	named  bool // within has paths that a caller named
	policy plan.Policy
	made   []string    // see threeWay
	gone   []string    // paths that were certainly absent at base
	pairs  [][2]string // see plan.Options

	kept, conflicts []state.PathReason // found before planning
}

// takeBack brings paths that still equal base to target. For other paths the policy decides.
func (r *Operator) takeBack(ctx context.Context, req opRequest, target, base *history.Checkpoint, opt takeBackOptions) (*Result, error) {
	makePlan, err := r.takingBack(ctx, target, base, opt)
	if err != nil {
		return nil, err
	}
	return r.operate(ctx, req, makePlan)
}

// takingBack returns what plans a takeBack.
func (r *Operator) takingBack(ctx context.Context, target, base *history.Checkpoint, opt takeBackOptions) (planMaker, error) {
	to, err := history.StateOf(target)
	if err != nil {
		return nil, err
	}
	from, err := history.StateOf(base)
	if err != nil {
		return nil, err
	}
	changes, err := r.changesOf(ctx, to.WithAbsent(opt.made), from.WithAbsent(opt.gone), opt.within)
	if err != nil {
		return nil, err
	}
	return func(disk *capture.Snapshot) (*plan.Plan, error) {
		if opt.named {
			if err := r.checkPaths(opt.within, disk, to, from); err != nil {
				return nil, err
			}
		}
		return r.planTakeBack(ctx, disk, changes, opt)
	}, nil
}

// rangeChanges holds everything that differs between two states.
type rangeChanges struct {
	to, from state.State // before and after the changes
	step     []history.Change
	left     []plan.LeftOut
	scope    *state.PathScope
}

func (r *Operator) changesOf(ctx context.Context, to, from state.State, within *state.PathScope) (c rangeChanges, err error) {
	c.to, c.from = to, from
	if c.step, err = r.Changes(ctx, to, from, within); err != nil {
		return c, err
	}
	if c.left, err = plan.FindLeftOut(ctx, r.Store, to, from, within); err != nil {
		return c, err
	}
	c.scope, err = plan.ChangedBetween(r.Store, to, from, within, c.step)
	return c, err
}

// planTakeBack plans how the paths that a range changed go back.
func (r *Operator) planTakeBack(ctx context.Context, disk *capture.Snapshot, c rangeChanges, opt takeBackOptions) (*plan.Plan, error) {
	way := &plan.ThreeWay{Base: c.from, Policy: opt.policy, Made: make(map[string]bool)}
	for _, path := range opt.made {
		way.Made[path] = true
	}
	denied, err := r.deniedLeft(r.live(disk), c.from, opt)
	if err != nil {
		return nil, err
	}
	return plan.Make(ctx, r.Store, r.live(disk), disk.DiskState(), c.to, plan.Options{
		Scope: c.scope, Way: way, Step: c.step, Pairs: opt.pairs, LeftOut: c.left, Kept: slices.Concat(opt.kept, denied),
		Conflicts: opt.conflicts,
	})
}

// deniedLeft lists the files on the deny list that the operation has made. They stay: the state after it does not hold
// them, and they cannot be saved.
func (r *Operator) deniedLeft(live plan.LiveDisk, from state.State, opt takeBackOptions) (kept []state.PathReason, err error) {
	for _, path := range opt.made {
		if !r.Denied(path) || !opt.within.Covers(path) {
			continue
		}
		held, err := r.EntryOrNil(from.Tree, path)
		if err != nil {
			return nil, err
		}
		if held != nil {
			continue // the plan decides
		}
		if found, err := live.Find(path); err == nil && found != nil && found.Path == path && found.Mode != object.Dir {
			kept = append(kept, state.PathReason{Path: state.Path(path), Reason: plan.ReasonDenied})
		}
	}
	return kept, nil
}
