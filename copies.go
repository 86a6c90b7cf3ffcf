package cairn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/copies"
	"github.com/seed-fb9cbc17/cairn/internal/merge"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// CheckoutOptions controls a checkout.
type CheckoutOptions = copies.CheckoutOptions

// CheckoutResult says what a checkout made, or in a dry run would make.
type CheckoutResult = copies.CheckoutResult

// CopyAmount is a number of files and their bytes.
type CopyAmount = copies.Amount

// Checkout makes a new directory with the exact state of a checkpoint: contents, kinds, permission
// bits and empty directories. Nothing or an empty directory may be at dir, outside of the data
// directory and of the root, or in a directory of the root that captures leave out; its parent must
// exist. Else the error wraps ErrPlace. The directory
// appears when it is whole, so a killed process leaves either all of it or none.
//
// Files that the root still has with the wanted contents, by its stat, are cloned, or copied where
// the file system cannot clone. They keep their time of modification. The others come out of the
// store. Nothing is hard-linked: a change in one of the directories never shows in the other.
//
// A path that this file system cannot hold, or whose contents the store has lost, is listed as a
// conflict and does not stop the others. Everything else is an error and leaves nothing.
func (r *Repo) Checkout(ctx context.Context, spec, dir string, opt CheckoutOptions) (*CheckoutResult, error) {
	return r.copier.Checkout(ctx, spec, dir, opt)
}

// ForkOptions controls a fork. DryRun only counts; it captures the root first, as a fork does.
type ForkOptions = copies.ForkOptions

// ForkResult says what a fork made, or in a dry run would make.
type ForkResult = copies.ForkResult

// Fork makes a new directory with the present state of the root, which is captured first, or with the
// newest state of a session, and a store for it. The directory is made as by Checkout. The store begins
// with the whole history of this one: checkpoints, sessions, operations, pins. Its packs are hard links
// where the file system has them, so it takes next to no room, and no cleaning of one store harms the
// other. Undo, Log and Diff of the new directory work at once. From then on the two go their own ways;
// Merge and Compare find the checkpoint that they have in common.
//
// After a fork of a session, the first Undo in the new directory leads to the present state of this one.
// Sessions that work in several directories are not forked and listed; to fork one of them is ErrPlace.
//
// With GitWorktree the directory is a linked work tree of the user's git repository, on a new branch,
// with the index that the checkpoint records. A branch that exists is ErrExists, a name that git allows
// for none ErrName. A repository that cannot have a linked work tree, or has an operation in progress, is
// ErrWorktree. Then nothing is done.
//
// The directory may lie inside the root where the root ignores it. Else its place is restricted as for
// Checkout. A store with checkpoints of an earlier directory of this name is ErrExists. A killed process
// leaves either no directory, and the next Fork to the same place removes what is there, or all of it.
func (r *Repo) Fork(ctx context.Context, dir string, opt ForkOptions) (*ForkResult, error) {
	defer r.store.Trees.DropLarge()
	return r.copier.Fork(ctx, dir, opt)
}

// ForkInfo is a fork of a root, with its changes since.
type ForkInfo = copies.ForkInfo

// RemovedFork describes a fork that was removed, or in a dry run would be.
type RemovedFork = copies.RemovedFork

// RemoveForkOptions controls the removal of a fork.
type RemoveForkOptions struct {
	Force  bool // also with unmerged changes, and files outside every checkpoint
	DryRun bool // only say what would be lost

	Env []string // of git, for a linked work tree; nil = that of Options
}

// Forks lists the forks of this root, ordered by directory, with the changes of each since it was made,
// and those of them that a merge would bring here. The present state of each directory is captured
// first. A fork that cannot be looked at has an Error. Forks of forks are listed by the forks that they
// are of.
func (r *Repo) Forks(ctx context.Context) ([]ForkInfo, error) {
	list, err := r.copier.Forks()
	if err != nil {
		return nil, err
	}
	for i := range list {
		if _, err := r.inspectFork(ctx, &list[i]); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			list[i].Error = err.Error()
		}
	}
	return list, nil
}

// unmergedError counts what would be lost with a fork.
func unmergedError(f *RemovedFork) error {
	var lost []string
	if n := len(f.Lost); n > 0 {
		lost = append(lost, fmt.Sprintf("%s of %s not merged", wording.Count(n, "path"), string(f.Root)))
	}
	if n := f.NotSaved.Files; n > 0 {
		lost = append(lost, wording.Count(n, "file")+" in no checkpoint")
	}
	return fmt.Errorf("%w: %s", ErrUnmerged, strings.Join(lost, ", "))
}

// RemoveFork removes a fork: its directory and its store, with all checkpoints. Its last state is
// captured first and kept in the store of this root, from where Checkout brings it back. Unless Force
// is set, it refuses with ErrUnmerged if the fork has unmerged changes, or files outside every
// checkpoint that differ from those of the root, or if a linked work tree has commits that are on no
// branch. The branch of a linked work tree goes unless it has commits of its own. The result lists them
// in any case; it comes with that error, too.
//
// Where the directory is gone already, the store goes. A directory that is no fork of this root is
// ErrNotFound. If the directory changes meanwhile, the error wraps ErrMoved.
func (r *Repo) RemoveFork(ctx context.Context, dir string, opt RemoveForkOptions) (*RemovedFork, error) {
	f, err := r.copier.FindFork(dir)
	if err != nil {
		return nil, err
	}
	other, closed, err := r.openFork(&f)
	if err != nil {
		return nil, err
	}
	defer closed()
	res := &RemovedFork{ForkInfo: f, DryRun: opt.DryRun}
	if res.Lost, err = r.unmerged(ctx, other, &res.ForkInfo); err != nil {
		return nil, err
	}
	if !f.Missing {
		if err := r.copier.ListUnsaved(ctx, other.capturer, res); err != nil {
			return nil, err
		}
	}
	if err := r.copier.LookAtGit(ctx, opt.Env, res); err != nil {
		return nil, err
	}
	switch {
	case opt.DryRun:
		return res, nil
	case !opt.Force && len(res.Lost)+res.NotSaved.Files > 0:
		return res, unmergedError(res)
	}
	kept, err := r.merger.Keep(ctx, other.store, res.Checkpoint, res.Base)
	if err != nil {
		return nil, err
	}
	res.Saved = kept.ID
	return res, r.copier.RemoveFork(ctx, opt.Env, other.capturer, res)
}

// openFork opens the repository of a fork, also where its directory is gone.
func (r *Repo) openFork(f *ForkInfo) (other *Repo, closed func(), err error) {
	if !f.Missing {
		opt, err := r.optionsFor(string(f.Root))
		if err != nil {
			return nil, nil, err
		}
		opt.MustExist, opt.Watch = true, false
		if other, err = Open(opt); err != nil {
			return nil, nil, err
		}
	} else {
		s, err := OpenStore(string(f.Store))
		if err != nil {
			return nil, nil, err
		}
		other = s.repo
	}
	return other, func() { _ = other.Close() }, nil
}

// inspectFork fills in the changes of a fork, and returns the unmerged ones.
func (r *Repo) inspectFork(ctx context.Context, f *ForkInfo) ([]PathReason, error) {
	other, closed, err := r.openFork(f)
	if err != nil {
		return nil, err
	}
	defer closed()
	return r.unmerged(ctx, other, f)
}

// unmerged lists what a merge of a fork would change here, or could not merge.
func (r *Repo) unmerged(ctx context.Context, other *Repo, f *ForkInfo) (list []PathReason, err error) {
	now, changes, err := f.Look(ctx, other.capturer)
	if err != nil || f.Changed == 0 {
		return nil, err
	}
	src := merge.Source{Store: other.store, Checkpoint: now.ID, Name: string(f.Root)}
	res, err := r.merger.Merge(ctx, src, merge.Options{DryRun: true})
	if errors.Is(err, ErrNotFound) {
		f.Unmerged = len(changes)
		return allChanged(changes), nil
	}
	if err != nil {
		return nil, err
	}
	for i := range res.Plan {
		list = append(list, PathReason{Path: res.Plan[i].Path, Reason: res.Plan[i].Action})
	}
	list = append(append(list, res.Conflicts...), res.Kept...)
	f.Unmerged = len(list)
	return list, nil
}

// allChanged lists all that a fork changed, where it has no state in common with this root any more.
func allChanged(changes []Change) (list []PathReason) {
	for i := range changes {
		list = append(list, PathReason{Path: Path(changes[i].Path), Reason: string(changes[i].Status)})
	}
	return list
}
