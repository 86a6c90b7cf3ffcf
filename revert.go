package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
)

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
// permission bits go back. Patch.Files may be absolute, or relative to the root.
func (r *Repo) RevertPatches(ctx context.Context, patches []Patch, opt RevertPatchesOptions) (*Result, error) {
	return r.operator.RevertPatches(ctx, patches, opt)
}
