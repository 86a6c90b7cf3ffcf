package retention

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/odb/collect"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// CleanForRoom cleans for a capture that failed because the disk was full. An error means that
// another attempt is pointless. It cleans nothing for a capture that needs more than the whole budget:
// no process can make that room. Whether a smaller one fits depends on what others write meanwhile.
func (r *Cleaner) CleanForRoom(ctx context.Context, cause error) error {
	need, err := r.needed(cause)
	if err != nil {
		return errors.Join(cause, err)
	}
	if r.neverFits(cause) {
		return fmt.Errorf("%w; that is more than the store may have in all: raise max_bytes", cause)
	}
	done, err := r.RunClean(ctx, CleanOptions{Retention: *r.Opt.Retention, need: need})
	switch {
	case errors.Is(err, ErrBusy): // its room serves this capture as well
		return collect.Wait(ctx, r.DB)
	case err != nil:
		r.Log.Warn("cleaning for want of space failed", "error", err)
		return fmt.Errorf("%w; making room failed: %w", cause, err)
	case done.Blocked != nil:
		return fmt.Errorf("%w; nothing can be dropped, because the store is damaged (cairn doctor --fix mends it): %w", cause, done.Blocked)
	case done.OverBudget > 0 && done.holds != nil && done.Freed <= 0: // without OverBudget, the system may return the space later
		return fmt.Errorf("%w; %s", cause, done.holds.text(stepOf(cause)))
	case done.Freed <= 0 && !done.fits && !done.Incomplete && done.OverBudget == 0:
		return cause
	}
	return nil
}

// neverFits reports whether the failed capture is known to need more than the whole budget. The system's error for a full
// disk, or for a quota, says nothing of that.
func (r *Cleaner) neverFits(cause error) bool {
	var short *state.Shortage
	return errors.As(cause, &short) && r.Room.MaxBytes > 0 && short.Need > r.Room.MaxBytes
}

// stepOf returns what the user can do to lift the limit that the capture met.
func stepOf(cause error) string {
	var short *state.Shortage
	if errors.As(cause, &short) {
		return short.Step
	}
	return "free the disk"
}

// needed returns the number of bytes that the failed capture needs. The system does not tell it; a
// fraction of the store is assumed then.
func (r *Cleaner) needed(cause error) (int64, error) {
	var short *state.Shortage
	if errors.As(cause, &short) {
		return max(1, short.Need), nil
	}
	free, err := r.FreeSpace()
	if err != nil {
		return 0, err
	}
	size, err := r.StoreSize()
	return free + max(size/budgetSlack, 1<<20), err
}
