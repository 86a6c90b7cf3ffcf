package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// RevertRange takes back what changed between two checkpoints, from and to, and
// nothing else: what was changed since to is treated as the policy says. Paths
// narrows it down.
func (r *Repo) RevertRange(ctx context.Context, from, to string, opt RevertOptions) (*Result, error) {
	target, err := r.Lookup(ctx, from)
	if err != nil {
		return nil, err
	}
	base, err := r.Lookup(ctx, to)
	if err != nil {
		return nil, err
	}
	scope, err := r.scopeOf(opt.Paths)
	if err != nil {
		return nil, err
	}
	owners, err := attribute(ctx, r, opt, r.stateOf)
	if err != nil {
		return nil, err
	}
	req := opRequest{kind: "revert", target: target.ID, dryRun: opt.DryRun, planID: opt.Plan}
	return r.takeBack(ctx, req, target, base, takeBackOptions{within: scope, policy: opt.policy(Merge), owners: owners})
}

type takeBackOptions struct {
	within *pathScope
	policy Policy
	made   []string // see threeWay
	owners *attribution
}

// takeBack plans the way from base to target for what is still as at base, and by
// the policy for the rest.
func (r *Repo) takeBack(ctx context.Context, req opRequest, target, base *Checkpoint, opt takeBackOptions) (*Result, error) {
	to, err := target.state()
	if err != nil {
		return nil, err
	}
	from, err := base.state()
	if err != nil {
		return nil, err
	}
	step, err := r.changes(ctx, to, from, opt.within)
	if err != nil {
		return nil, err
	}
	left, err := findLeftOut(ctx, r, to, from, opt.within)
	if err != nil {
		return nil, err
	}
	own, stay := step, []PathReason(nil)
	if opt.policy != Overwrite {
		own, stay = opt.owners.withoutOthers(step)
	}
	scope, err := changedBetween(r, to, from, opt.within, own)
	if err != nil {
		return nil, err
	}
	return r.operate(ctx, req, func(disk *capture) (*plan, error) {
		way := &threeWay{base: from, policy: opt.policy, made: make(map[string]bool), merged: make(map[object.ID][]byte)}
		for _, path := range opt.made {
			way.made[path] = true
		}
		return makePlan(ctx, r, disk.snapshot(), to, planOptions{scope: scope, way: way, step: step, stay: stay, leftOut: left})
	})
}
