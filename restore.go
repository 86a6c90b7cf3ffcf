package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// RestoreOptions says what to restore.
type RestoreOptions = operation.RestoreOptions

// PathReason is a path that was left alone, and why.
type PathReason = state.PathReason

// PlannedChange is one line of a plan.
type PlannedChange = operation.PlannedChange

// Result says what a restore or revert did, path by path. Nothing that it lists as
// restored or deleted is lost: the operation keeps the state before.
type Result = operation.Result

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
	return r.operator.Restore(ctx, spec, opt)
}
