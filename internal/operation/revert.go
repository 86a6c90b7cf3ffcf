package operation

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// RevertRange takes back what changed between two checkpoints, from and to, and
// nothing else: what was changed since to is treated as the policy says. Paths
// narrows it down.
func (r *Operator) RevertRange(ctx context.Context, from, to string, opt plan.RevertOptions) (*Result, error) {
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
	owners, err := plan.Attribute(ctx, r.Store, opt, r.StateOf)
	if err != nil {
		return nil, err
	}
	req := opRequest{kind: "revert", target: target.ID, dryRun: opt.DryRun, planID: opt.Plan}
	return r.takeBack(ctx, req, target, base, takeBackOptions{within: scope, policy: plan.PolicyOf(&opt, plan.Merge), owners: owners})
}

type takeBackOptions struct {
	within *state.PathScope
	policy plan.Policy
	made   []string // see threeWay
	owners *plan.Attribution
}

// takeBack brings paths that still equal base to target. For other paths the policy decides.
func (r *Operator) takeBack(ctx context.Context, req opRequest, target, base *history.Checkpoint, opt takeBackOptions) (*Result, error) {
	to, err := history.StateOf(target)
	if err != nil {
		return nil, err
	}
	from, err := history.StateOf(base)
	if err != nil {
		return nil, err
	}
	step, err := r.Changes(ctx, to, from, opt.within)
	if err != nil {
		return nil, err
	}
	left, err := plan.FindLeftOut(ctx, r.Store, to, from, opt.within)
	if err != nil {
		return nil, err
	}
	own, stay := step, []state.PathReason(nil)
	if opt.policy != plan.Overwrite {
		own, stay = opt.owners.WithoutOthers(step)
	}
	scope, err := plan.ChangedBetween(r.Store, to, from, opt.within, own)
	if err != nil {
		return nil, err
	}
	return r.operate(ctx, req, func(disk *capture.Snapshot) (*plan.Plan, error) {
		way := &plan.ThreeWay{Base: from, Policy: opt.policy, Made: make(map[string]bool)}
		for _, path := range opt.made {
			way.Made[path] = true
		}
		return plan.Make(ctx, r.Store, r.live(disk), disk.DiskState(), to, plan.Options{Scope: scope, Way: way, Step: step, Stay: stay, LeftOut: left})
	})
}
