package cairn

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/retention"
)

// CleanOptions controls a cleaning.
type CleanOptions = retention.CleanOptions

// CleanResult is the answer of Clean.
type CleanResult = retention.CleanResult

// KeptRule is what one rule of Retention.Keep keeps.
type KeptRule = retention.KeptRule

// Usage is the size and the content of a store.
type Usage = retention.Usage

// Clean removes the checkpoints that opt allows to remove, and repacks. It holds the lock for
// moments only, and a waiting process gets it first.
//
// If the store cannot be read as a whole, lines are removed but no objects; Blocked says why. The
// error wraps ErrBusy if another process is cleaning, and ErrNoSpace if there is no room for the
// cleaning itself.
func (r *Repo) Clean(ctx context.Context, opt CleanOptions) (*CleanResult, error) {
	return r.cleaner.Clean(ctx, opt)
}

// CleanIfDue cleans if the last cleaning, finished or not, began at least every ago and no other
// process uses or cleans the store. Otherwise it returns nil.
func (r *Repo) CleanIfDue(ctx context.Context, keep Retention, every time.Duration) (*CleanResult, error) {
	return r.cleaner.CleanIfDue(ctx, keep, every)
}

// Usage measures the store. It counts the checkpoints and lines that can be read.
func (r *Repo) Usage(ctx context.Context) (*Usage, error) {
	return r.cleaner.Usage(ctx)
}
