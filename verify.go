package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/verify"
)

// What Verify checks and finds.
type (
	VerifyOptions = verify.Options
	VerifyReport  = verify.Report
	VerifyLine    = verify.Line
	VerifyNote    = verify.Note
)

// Verify checks the chain of checkpoints of every line and session: that each commit, its parents, trees
// and files are there, that their bytes are those of their names, and that the records of sessions and
// operations say what the chain says. What a cleaning, a purge or a repair has changed is listed in Gaps.
// Everything else that is wrong is in Findings. Nothing is changed. The error is ErrNotFound if
// VerifyOptions.After names no checkpoint.
//
// Check looks at the files of the store, Verify at what the history says.
func (r *Repo) Verify(ctx context.Context, opt VerifyOptions) (*VerifyReport, error) {
	return verify.Run(ctx, r.store, opt)
}
