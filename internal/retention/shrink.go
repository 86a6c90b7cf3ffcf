package retention

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn/internal/odb/collect"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// budgetSlack is a divisor: a store over its budget shrinks to 1/budgetSlack below it, so that one
// cleaning serves many tracks.
const budgetSlack = 8

// maxShrinks is how often a cleaning removes more because the rest took more than estimated: a
// delta grows when its base goes.
const maxShrinks = 5

// shrink removes the oldest units if the store is too large or must make room for a capture. It
// removes nothing for a capture that would not fit even then.
func (r *Cleaner) shrink(ctx context.Context, s *survey, opt CleanOptions, keep settings.Retention, done *CleanResult) error {
	opt.Thorough = true
	for n := 0; done.Blocked == nil; n++ {
		size, err := r.StoreSize()
		if err != nil {
			return err
		}
		if opt.DryRun {
			size -= done.Freed
		}
		most, err := r.mostBytes(keep, opt.need, size)
		if err != nil {
			return err
		}
		done.OverBudget = max(0, size-most)
		if done.fits = size <= most; done.fits {
			return nil
		}
		target := most - most/budgetSlack - int64(n)*(size-most)
		if done.tight {
			target = most >> n // a smaller rest needs less copying
		}
		enough, err := r.dropOldest(ctx, s, opt, target, most, done)
		switch {
		case err != nil:
			return err
		case !enough, opt.DryRun:
			return r.overBudget(ctx, s, opt.need, done)
		case n == maxShrinks:
			return nil // other processes take up the room or keep the store busy
		}
	}
	return nil
}

// mostBytes returns the largest size of the store at which need bytes can still be added.
func (r *Cleaner) mostBytes(keep settings.Retention, need, size int64) (int64, error) {
	most := keep.MaxBytes
	if most != settings.NoBytes {
		most -= need
	}
	if need == 0 {
		return most, nil
	}
	free, err := r.FreeSpace()
	if err != nil {
		return 0, err
	}
	if short := keep.MinFree + need - free; short > 0 {
		most = min(most, size-short)
	}
	return most, nil
}

// dropOldest removes the oldest units that do not fit into target bytes. It reports whether there
// were units to remove or garbage to collect.
func (r *Cleaner) dropOldest(ctx context.Context, s *survey, opt CleanOptions, target, most int64, done *CleanResult) (bool, error) {
	rest, err := r.besideObjects()
	if err != nil {
		return false, err
	}
	size, err := r.DB.StoredSizes()
	if err != nil {
		return false, err
	}
	if opt.need == 0 {
		most = settings.NoBytes // remove as much as the policy allows
	}
	before := s.living()
	fits, err := s.bySize(ctx, target-rest, most-rest, size)
	if done.stuck = err == nil && !fits; err != nil || !fits {
		return false, err
	}
	freed := done.Freed
	err = r.letGo(ctx, s, opt, done)
	done.tight = opt.need > 0 && errors.Is(err, state.ErrNoSpace)
	if done.tight {
		err = nil // the units removed so far may be enough
	}
	return s.living() < before || done.Freed > freed || done.tight, err
}

// besideObjects returns the size of the files that are neither packs nor loose objects.
func (r *Cleaner) besideObjects() (int64, error) {
	all, err := r.StoreSize()
	if err != nil {
		return 0, err
	}
	objects, err := r.DB.ObjectBytes()
	return max(0, all-objects), err
}

// overBudget finds the units that hold a store over its limit.
func (r *Cleaner) overBudget(ctx context.Context, s *survey, need int64, done *CleanResult) error {
	if done.Blocked != nil || done.Incomplete || need > 0 && !done.stuck {
		return nil // other processes keep the store busy
	}
	size, err := r.DB.StoredSizes()
	if err != nil {
		return err
	}
	if done.holds, err = s.holders(ctx, size); err != nil {
		return err
	}
	done.Pins = done.holds.names()
	return nil
}

// copyAtOnce returns the largest size of the packs that a cleaning makes while a capture waits; 0 =
// no limit. The old and the new pack must fit on the disk together. Packs of a fraction of the
// store also keep old objects apart from new ones: the oldest then go with their packs, and little
// is copied.
func (r *Cleaner) copyAtOnce(opt CleanOptions) int64 {
	if opt.need == 0 {
		return 0
	}
	size, err := r.StoreSize()
	if err != nil {
		return 0
	}
	most := max(minCopied, size/budgetSlack)
	if free, err := r.FreeSpace(); err == nil {
		most = min(most, (free-r.reserve(opt))/2)
	}
	return max(1, most)
}

// minCopied is the pack size in bytes below which copyAtOnce sets no limit, if the disk has room.
const minCopied = 64 << 10

// reserve returns the number of bytes of disk that a cleaning leaves free. A cleaning may use half of
// the free space, because it returns more than it takes.
func (r *Cleaner) reserve(opt CleanOptions) int64 {
	return r.LeastFree(settings.WithDefaults(opt.Retention, r.DefaultBudget).MinFree)
}

// ErrBusy: another process is cleaning.
var ErrBusy = collect.ErrBusy
