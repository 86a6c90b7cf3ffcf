package cairn

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/retention"
)

// CleanOptions says how to clean.
type CleanOptions = retention.CleanOptions

// Cleaned is the answer of Clean.
type Cleaned = retention.Cleaned

// Usage is what a store takes and holds.
type Usage = retention.Usage

// DefaultBudget is the size in bytes that the store keeps to unless a Retention says
// otherwise: the smaller of 5 GiB and a tenth of what was free when it was made.
func (r *Repo) DefaultBudget() int64 {
	return r.cleaner.DefaultBudget()
}

// Clean drops what opt lets go, and puts the packs in order. The store is locked for
// moments only: whoever waits for it comes first.
//
// A store that cannot be read as a whole loses lines, but no contents: Blocked says
// why. The error wraps ErrBusy if another process is cleaning, and ErrNoSpace if
// there is no room even for that.
func (r *Repo) Clean(ctx context.Context, opt CleanOptions) (*Cleaned, error) {
	return r.cleaner.Clean(ctx, opt)
}

// Due reports whether the last cleaning is longer ago than every, at the price of
// reading one small file. A time in the future counts as long ago.
func (r *Repo) Due(every time.Duration) bool {
	return r.cleaner.Due(every)
}

// CleanIfDue cleans if the last cleaning, finished or not, was begun longer ago than
// every, and nobody else uses or cleans the store. Otherwise it returns nil.
func (r *Repo) CleanIfDue(ctx context.Context, keep Retention, every time.Duration) (*Cleaned, error) {
	return r.cleaner.CleanIfDue(ctx, keep, every)
}

// StoreSize returns how many bytes the store's files take: packs, refs, the stat cache and
// all else below its directory. A pack that the store shares with the user's repository
// takes none. Usage.Size and Cleaned.Size are the same number.
func (r *Repo) StoreSize() (int64, error) {
	return r.cleaner.StoreSize()
}

// Usage measures the store. Checkpoints and lines count where they can be read.
func (r *Repo) Usage(ctx context.Context) (*Usage, error) {
	return r.cleaner.Usage(ctx)
}
