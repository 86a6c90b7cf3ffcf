package operation

import (
	"context"
	"strings"

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
	KeepNew bool     // files created since the checkpoint stay, unless they stand in the place of one that comes back
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
	res, err := r.goTo(ctx, spec, opRequest{kind: "restore", dryRun: opt.DryRun, planID: opt.Plan}, opt.Paths, opt.KeepNew)
	if err == nil && !res.moves() && len(res.Conflicts) == 0 {
		err = r.noteAlike(ctx, spec, res)
	}
	return res, err
}

// noteAlike notes, where nothing was to be restored, that a hash also is that of another checkpoint: a hash does not
// tell permission bits and empty directories, and names the newest.
func (r *Operator) noteAlike(ctx context.Context, spec string, res *Result) error {
	target, err := r.Lookup(ctx, spec)
	if err != nil || !strings.HasPrefix(target.Hash, strings.ToLower(spec)) || strings.HasPrefix(target.ID, strings.ToLower(spec)) {
		return err
	}
	other, err := r.Alike(ctx, target)
	if other != nil {
		res.Notes = append(res.Notes, "another checkpoint with this hash has other permission bits or empty directories; its id names it: "+other.ID)
	}
	return err
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

// checkPaths refuses paths that neither the disk nor a checkpoint knows: most likely a typing error.
func (r *Operator) checkPaths(scope *state.PathScope, disk *capture.Snapshot, checkpoints ...state.State) error {
	if scope == nil {
		return nil
	}
	known := r.knownTo(checkpoints)
	for _, path := range scope.Paths {
		if rec := disk.Index.Lookup(path); path == "" || rec != nil && rec.Skip() != index.Rules {
			continue
		}
		if known, err := known(path); err != nil {
			return err
		} else if known {
			continue
		}
		if found, err := dir.Find(r.Root, path, disk.Index.Has); err == nil && found != nil && found.Path == path {
			return state.NotFound("path %s at the checkpoint (on disk it is ignored, and so not captured)", path)
		}
		where := "the checkpoint"
		if len(checkpoints) > 1 {
			where = "one of the checkpoints"
		}
		return state.NotFound("path %s, neither at %s nor on disk", path, where)
	}
	return nil
}

// CheckNamed refuses a path that is neither in one of some states nor on disk: most likely a typing error. where
// names the states in the error, as in "on one of the sides".
func (r *Operator) CheckNamed(scope *state.PathScope, where string, states ...state.State) error {
	if scope == nil {
		return nil
	}
	known := r.knownTo(states)
	for _, path := range scope.Paths {
		if path == "" { // everything
			continue
		}
		if found, err := dir.Find(r.Root, path, nil); err == nil && found != nil && found.Path == path {
			continue
		}
		if known, err := known(path); err != nil {
			return err
		} else if !known {
			return state.NotFound("path %s, neither %s nor on disk", path, where)
		}
	}
	return nil
}

// knownTo returns a function that reports whether a path is in one of some states, or may have been there without
// being captured.
func (r *Operator) knownTo(states []state.State) func(path string) (bool, error) {
	empty, covered := make([]map[string]bool, len(states)), make([]*state.Coverage, len(states))
	for i, s := range states {
		empty[i], covered[i] = history.PathSet(s.Meta.Empty), state.NewCoverage(s.Meta)
	}
	return func(path string) (bool, error) {
		for i, s := range states {
			if empty[i][path] || !covered[i].Covers(path) {
				return true, nil
			}
			if e, err := r.EntryOrNil(s.Tree, path); err != nil || e != nil {
				return e != nil, err
			}
		}
		return false, nil
	}
}
