package operation

import (
	"context"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// RestoreOptions says what to restore.
type RestoreOptions struct {
	Paths   []string // and everything below them; none = all
	KeepNew bool     // files created since the checkpoint stay
	DryRun  bool     // only say what would be done
	Plan    string   // id of the plan to carry out; ErrMoved if it would be another one now
}

// Restore brings the disk to a checkpoint: contents, kinds, permission bits and
// empty directories. Files created since are deleted, unless KeepNew is set, and so
// are directories that the checkpoint did not have. Only what differs is touched.
// What the checkpoint may have had without capturing it (ignored, too large,
// unreadable) stays and is listed as kept.
//
// Everything that is overwritten or deleted is saved first, ignored and oversized
// files included. When the process dies midway, the next command on the store
// finishes the restore. A path that cannot be restored does not stop the others: it
// is listed as a conflict.
func (r *Operator) Restore(ctx context.Context, spec string, opt RestoreOptions) (*Result, error) {
	return r.goTo(ctx, spec, opRequest{kind: "restore", dryRun: opt.DryRun, planID: opt.Plan}, opt.Paths, opt.KeepNew)
}

func (r *Operator) goTo(ctx context.Context, spec string, req opRequest, paths []string, keepNew bool) (*Result, error) {
	target, err := r.Lookup(ctx, spec)
	if err != nil {
		return nil, err
	}
	scope, err := r.ScopeOf(paths)
	if err != nil {
		return nil, err
	}
	st, err := history.StateOf(target)
	if err != nil {
		return nil, err
	}
	within, err := history.ScopeWithin(scope, st.Meta, target)
	if err != nil {
		return nil, err
	}
	req.target = target.ID
	return r.operate(ctx, req, func(disk *capture.Snapshot) (*plan.Plan, error) {
		if err := r.checkPaths(scope, disk, st); err != nil {
			return nil, err
		}
		return plan.Make(ctx, r.Store, r.live(disk), disk.DiskState(), st, plan.Options{Scope: within, KeepNew: keepNew})
	})
}

// checkPaths refuses paths that neither side knows: most likely a typing error.
func (r *Operator) checkPaths(scope *state.PathScope, disk *capture.Snapshot, target state.State) error {
	if scope == nil {
		return nil
	}
	empty := history.PathSet(target.Meta.Empty)
	for _, path := range scope.Paths {
		if rec := disk.Index.Lookup(path); path == "" || rec != nil && rec.Skip() != index.Rules || empty[path] {
			continue
		}
		if e, err := r.EntryOrNil(target.Tree, path); err != nil {
			return err
		} else if e != nil {
			continue
		}
		if found, err := dir.Find(r.Root, path, disk.Index.Has); err == nil && found != nil && found.Path == path {
			return state.NotFound("path %s at the checkpoint (on disk it is ignored, and so not captured)", path)
		}
		return state.NotFound("path %s, neither at the checkpoint nor on disk", path)
	}
	return nil
}

// Revert brings the files of patches back to what they were: each file to its state
// at the hash of the first patch that names it. A file that the tree of that hash
// lacks was created since and is deleted. Files that no patch names are not
// touched; of a directory that a patch names only the bits go back. Patch.Files may be absolute, or relative to the root.
func (r *Operator) Revert(ctx context.Context, patches []state.Patch, opt plan.RevertOptions) (*Result, error) {
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

// RevertTo takes back what changed since a checkpoint. With Overwrite, the default,
// everything goes back, as in Restore. With the other policies what changed up to
// the newest checkpoint goes back, and what changed after that is treated as the
// policy says.
func (r *Operator) RevertTo(ctx context.Context, spec string, opt plan.RevertOptions) (*Result, error) {
	if plan.PolicyOf(&opt, plan.Overwrite) != plan.Overwrite {
		return r.RevertRange(ctx, spec, "@", opt)
	}
	return r.goTo(ctx, spec, opRequest{kind: "revert", dryRun: opt.DryRun, planID: opt.Plan}, opt.Paths, false)
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
