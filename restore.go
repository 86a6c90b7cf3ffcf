package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/operation"
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
