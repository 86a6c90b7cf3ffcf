package cairn

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/retention"
)

// CleanOptions controls a cleaning.
type CleanOptions = retention.CleanOptions

// Cleaned is the answer of Clean.
type Cleaned = retention.Cleaned

// Usage is the size and the content of a store.
type Usage = retention.Usage

// DefaultBudget is the size limit of the store in bytes for a Retention that sets none: the smaller
// of 5 GiB and a tenth of the disk space that was free when the store was made.
func (r *Repo) DefaultBudget() int64 {
	return r.cleaner.DefaultBudget()
}

// Clean removes the checkpoints that opt allows to remove, and repacks. It holds the lock for
// moments only, and a waiting process gets it first.
//
// If the store cannot be read as a whole, lines are removed but no objects; Blocked says why. The
// error wraps ErrBusy if another process is cleaning, and ErrNoSpace if there is no room for the
// cleaning itself.
func (r *Repo) Clean(ctx context.Context, opt CleanOptions) (*Cleaned, error) {
	return r.cleaner.Clean(ctx, opt)
}

// Due reports whether the last cleaning began at least every ago. It reads one small file. A time
// in the future counts as long ago.
func (r *Repo) Due(every time.Duration) bool {
	return r.cleaner.Due(every)
}

// CleanIfDue cleans if the last cleaning, finished or not, began at least every ago and no other
// process uses or cleans the store. Otherwise it returns nil.
func (r *Repo) CleanIfDue(ctx context.Context, keep Retention, every time.Duration) (*Cleaned, error) {
	return r.cleaner.CleanIfDue(ctx, keep, every)
}

// StoreSize returns the size in bytes of all files in the store: packs, refs, the stat cache and
// the rest. A pack that is shared with the user's repository counts as 0. Usage.Size and
// Cleaned.Size are the same number.
func (r *Repo) StoreSize() (int64, error) {
	return r.cleaner.StoreSize()
}

// Usage measures the store. It counts the checkpoints and lines that can be read.
func (r *Repo) Usage(ctx context.Context) (*Usage, error) {
	return r.cleaner.Usage(ctx)
}
