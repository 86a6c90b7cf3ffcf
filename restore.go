package cairn

import (
	"context"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/index"
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
func (r *Repo) Restore(ctx context.Context, spec string, opt RestoreOptions) (*Result, error) {
	return r.goTo(ctx, spec, opRequest{kind: "restore", dryRun: opt.DryRun, planID: opt.Plan}, opt.Paths, opt.KeepNew)
}

func (r *Repo) goTo(ctx context.Context, spec string, req opRequest, paths []string, keepNew bool) (*Result, error) {
	target, err := r.Lookup(ctx, spec)
	if err != nil {
		return nil, err
	}
	scope, err := r.scopeOf(paths)
	if err != nil {
		return nil, err
	}
	st, err := target.state()
	if err != nil {
		return nil, err
	}
	within, err := scope.within(st.meta, target)
	if err != nil {
		return nil, err
	}
	req.target = target.ID
	return r.operate(ctx, req, func(disk *capture) (*plan, error) {
		if err := r.checkPaths(scope, disk, st); err != nil {
			return nil, err
		}
		return makePlan(ctx, r, disk.snapshot(), st, planOptions{scope: within, keepNew: keepNew})
	})
}

// checkPaths refuses paths that neither side knows: most likely a typing error.
func (r *Repo) checkPaths(scope *pathScope, disk *capture, target state) error {
	if scope == nil {
		return nil
	}
	empty := pathSet(target.meta.Empty)
	for _, path := range scope.paths {
		if rec := disk.index.Lookup(path); path == "" || rec != nil && rec.Skip() != index.Rules || empty[path] {
			continue
		}
		if e, err := r.entryOrNil(target.tree, path); err != nil {
			return err
		} else if e != nil {
			continue
		}
		if found, err := dir.Find(r.root, path, disk.index.Has); err == nil && found != nil && found.Path == path {
			return notFound("path %s at the checkpoint (on disk it is ignored, and so not captured)", path)
		}
		return notFound("path %s, neither at the checkpoint nor on disk", path)
	}
	return nil
}

// RevertOptions says how to revert.
type RevertOptions struct {
	Paths      []string // and everything below them; none = all. Not for Revert, whose patches name the files
	OnConflict Policy   // "" = Overwrite for Revert, Merge for everything else
	DryRun     bool     // only say what would be done
	Plan       string   // id of the plan to carry out; ErrMoved if it would be another one now

	// Claims are the paths that the tools of the step named, and Others the steps of
	// other sessions that overlap it, for RevertRange. What another session claimed is
	// kept; what both may have changed is a conflict, unless OnConflict is Overwrite.
	Claims []string
	Others []Step
}

func (opt *RevertOptions) policy(fallback Policy) Policy {
	if opt.OnConflict == "" {
		return fallback
	}
	return opt.OnConflict
}

// Revert brings the files of patches back to what they were: each file to its state
// at the hash of the first patch that names it. A file that the tree of that hash
// lacks was created since and is deleted. Files that no patch names are not
// touched; of a directory that a patch names only the bits go back. Patch.Files may be absolute, or relative to the root.
func (r *Repo) Revert(ctx context.Context, patches []Patch, opt RevertOptions) (*Result, error) {
	parts, err := r.revertParts(ctx, patches)
	if err != nil {
		return nil, err
	}
	req := opRequest{kind: "revert", dryRun: opt.DryRun, planID: opt.Plan}
	if len(parts) > 0 {
		req.target = parts[0].target.ID
	}
	return r.operate(ctx, req, func(disk *capture) (*plan, error) {
		all := &plan{}
		for _, part := range parts {
			st, err := part.target.state()
			if err != nil {
				return nil, err
			}
			scope, err := part.scope(r.lookupDirs(st))
			if err != nil {
				return nil, err
			}
			p, err := makePlan(ctx, r, disk.snapshot(), st, planOptions{scope: scope})
			if err != nil {
				return nil, err
			}
			all.merge(p)
		}
		return all, nil
	})
}

// RevertTo takes back what changed since a checkpoint. With Overwrite, the default,
// everything goes back, as in Restore. With the other policies what changed up to
// the newest checkpoint goes back, and what changed after that is treated as the
// policy says.
func (r *Repo) RevertTo(ctx context.Context, spec string, opt RevertOptions) (*Result, error) {
	if opt.policy(Overwrite) != Overwrite {
		return r.RevertRange(ctx, spec, "@", opt)
	}
	return r.goTo(ctx, spec, opRequest{kind: "revert", dryRun: opt.DryRun, planID: opt.Plan}, opt.Paths, false)
}

// revertPart is the paths that go back to one checkpoint.
type revertPart struct {
	target *Checkpoint
	paths  []string
}

// scope selects the files of the part. A directory that the target has is named for its
// bits, not for what lies below it.
func (p *revertPart) scope(target *dirLookup) (*pathScope, error) {
	var files, dirs []string
	for _, path := range p.paths {
		at, err := target.at(path)
		if err != nil {
			return nil, err
		}
		if at.there {
			dirs = append(dirs, path)
		} else {
			files = append(files, path)
		}
	}
	return newPathScope(files).withAlone(dirs), nil
}

// revertParts gives every path to the first patch that names it, and groups the
// paths by hash.
func (r *Repo) revertParts(ctx context.Context, patches []Patch) ([]*revertPart, error) {
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
			rel, err := r.rel(file)
			if err == nil && rel == "" {
				err = fmt.Errorf("%w: a patch names files, not the root", ErrOutside)
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
