package operation

import (
	"context"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// RevertPatchesOptions controls a revert of patches. Later changes of their files are overwritten.
type RevertPatchesOptions struct {
	DryRun bool   // only say what would be done
	Plan   string // id of the plan to carry out; ErrMoved if it would be another one now
}

// RevertPatches brings the files of patches back: each file to its state at the hash of the first
// patch that names it. cairn.Repo.RevertPatches states the contract.
func (r *Operator) RevertPatches(ctx context.Context, patches []state.Patch, opt RevertPatchesOptions) (*Result, error) {
	parts, err := r.revertParts(ctx, patches)
	if err != nil {
		return nil, err
	}
	req := opRequest{kind: "revert", dryRun: opt.DryRun, planID: opt.Plan}
	if len(parts) > 0 {
		req.target = parts[0].target.ID
	}
	return r.operate(ctx, req, func(disk *capture.Snapshot) (*plan.Plan, error) {
		all := &plan.Plan{}
		for _, part := range parts {
			st, err := history.StateOf(part.target)
			if err != nil {
				return nil, err
			}
			scope, err := part.scope(r.LookupDirs(st))
			if err != nil {
				return nil, err
			}
			p, err := plan.Make(ctx, r.Store, r.live(disk), disk.DiskState(), st, plan.Options{Scope: scope})
			if err != nil {
				return nil, err
			}
			all.Merge(p)
		}
		return all, nil
	})
}

// revertPart is the paths that go back to one checkpoint.
type revertPart struct {
	target *history.Checkpoint
	paths  []string
}

// scope selects the files of the part. A directory that the target has is named for its
// bits, not for what lies below it.
func (p *revertPart) scope(target *history.DirLookup) (*state.PathScope, error) {
	var files, dirs []string
	for _, path := range p.paths {
		at, err := target.At(path)
		if err != nil {
			return nil, err
		}
		if at.There {
			dirs = append(dirs, path)
		} else {
			files = append(files, path)
		}
	}
	return state.NewPathScope(files).WithAlone(dirs), nil
}

// revertParts gives every path to the first patch that names it, and groups the
// paths by hash.
func (r *Operator) revertParts(ctx context.Context, patches []state.Patch) ([]*revertPart, error) {
	taken := make(map[string]bool)
	byHash := make(map[string]*revertPart)
	var parts []*revertPart
	for _, p := range patches {
		if len(p.Files) == 0 {
			continue
		}
		part := byHash[p.Hash]
		if part == nil {
			target, err := r.Lookup(ctx, p.Hash)
			if err != nil {
				return nil, err
			}
			part = &revertPart{target: target}
			byHash[p.Hash] = part
			parts = append(parts, part)
		}
		for _, file := range p.Files {
			rel, err := r.Rel(file)
			if err == nil && rel == "" {
				err = fmt.Errorf("%w: a patch names files, not the root", state.ErrOutside)
			}
			if err != nil {
				return nil, err
			}
			if !taken[rel] {
				taken[rel] = true
				part.paths = append(part.paths, rel)
			}
		}
	}
	return parts, nil
}
