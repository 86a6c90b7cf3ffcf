package cairn

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// RestoreOptions controls a restore.
type RestoreOptions = operation.RestoreOptions

// PathReason is a path that was left alone, and why.
type PathReason = state.PathReason

// PlannedChange is one line of a plan.
type PlannedChange = operation.PlannedChange

// Result lists the effect of a restore or revert, path by path. The operation keeps the state
// before, so no restored or deleted path is lost.
type Result = operation.Result

// Restore brings the disk to the state of a checkpoint: contents, kinds, permission bits and empty
// directories. It deletes files created since, unless KeepNew is set, and directories that the
// checkpoint did not have. It changes only paths that differ. A path that the checkpoint may have
// had without capturing it (ignored, too large, unreadable) stays and is listed as kept.
//
// Every file that is overwritten or deleted is saved first, ignored and oversized ones included. If
// the process dies midway, the next command on the store finishes the restore. A path that cannot
// be restored does not stop the others: it is listed as a conflict.
func (r *Repo) Restore(ctx context.Context, spec string, opt RestoreOptions) (*Result, error) {
	return r.operator.Restore(ctx, spec, opt)
}

// Range is the time between two checkpoints. Without To it ends at the present.
type Range = operation.Range

// LineRange names lines of a file as a range leaves it, numbered from 1, both ends included.
type LineRange = operation.LineRange

// RevertOptions controls a revert, an undo or a redo.
type RevertOptions = operation.RevertOptions

// RevertPatchesOptions controls a revert of patches. Later changes of their files are overwritten.
type RevertPatchesOptions = operation.RevertPatchesOptions

// Policy decides about a path that was changed after the state that is taken back. With every
// policy, a file is saved before it is overwritten.
type Policy = plan.Policy

// The policies.
const (
	Merge     Policy = plan.Merge     // merge line by line; if that is not clean, the path stays as it is and is a conflict
	Overwrite Policy = plan.Overwrite // discard the later change
	Keep      Policy = plan.Keep      // leave the path as it is
	Fail      Policy = plan.Fail      // do nothing at all if a path was changed later
)

// Revert takes back the changes of a range, and nothing else. The policy decides about paths that
// changed after Range.To.
//
// A range without To ends at the present. Overwrite, the default there, brings every path back, as
// in Restore. With another policy, the changes up to the newest checkpoint go back, and the policy
// decides about later changes.
//
// With Hunks or Lines only these go back. The names of hunks are those of a diff of the same range.
// A name that no hunk has is ErrNotFound, and so are lines that the range did not change. A
// beginning that several hunks share is ErrAmbiguous.
func (r *Repo) Revert(ctx context.Context, in Range, opt RevertOptions) (*Result, error) {
	return r.operator.Revert(ctx, in, opt)
}

// RevertPatches brings the files of patches back: each file to its state at the hash of the first
// patch that names it. A file that the tree of that hash lacks was created since and is deleted.
// Files that no patch names are not touched. For a directory that a patch names, only its
// permission bits go back. Where one hash has a file and another one something below its name, the
// hash that comes first among the patches counts, and the other path is a conflict. Patch.Files may be absolute, or relative to the root.
func (r *Repo) RevertPatches(ctx context.Context, patches []Patch, opt RevertPatchesOptions) (*Result, error) {
	return r.operator.RevertPatches(ctx, patches, opt)
}

// Operation is a restore, revert, undo or redo that was carried out. Before and After are
// checkpoints. Before holds every file that the operation overwrote or deleted.
type Operation = history.Operation

// Operations yields the operations of this root, newest first. An error ends the
// iteration.
func (r *Repo) Operations(ctx context.Context) iter.Seq2[*Operation, error] {
	return r.store.Operations(ctx)
}

// Undo takes back the last restore, revert, merge or redo not taken back yet: any number of
// levels, across processes. It touches only the paths of that operation. The policy, Merge by
// default, decides about paths that were changed since. An undo is an operation itself, which Redo
// takes back.
//
// The error wraps ErrNotFound when there is nothing to undo.
func (r *Repo) Undo(ctx context.Context, opt RevertOptions) (*Result, error) {
	return r.operator.Undo(ctx, opt)
}

// Redo takes back the last undo. After another restore, revert or merge there is nothing to redo.
func (r *Repo) Redo(ctx context.Context, opt RevertOptions) (*Result, error) {
	return r.operator.Redo(ctx, opt)
}
