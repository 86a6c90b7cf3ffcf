package retention

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// budgetSlack: a store that has outgrown its budget shrinks to this fraction below it, so
// that many tracks pay for one cleaning.
const budgetSlack = 8

// maxShrinks is how often a cleaning drops more, because what was left took more than was
// estimated: a delta grows when its base goes.
const maxShrinks = 5

// shrink lets the oldest go where the store is too large, or has to make room for a
// capture. For a capture that would not fit even then nothing goes.
func (r *Cleaner) shrink(ctx context.Context, s *survey, opt CleanOptions, keep settings.Retention, done *Cleaned) error {
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
			target = most >> n // less has to be copied for it
		}
		enough, err := r.dropOldest(ctx, s, opt, target, most, done)
		switch {
		case err != nil:
			return err
		case !enough, opt.DryRun:
			return r.overBudget(ctx, s, opt.need, done)
		case n == maxShrinks:
			return nil // other processes take the room, or keep the store busy
		}
	}
	return nil
}

// mostBytes is how large the store may be, so that so many bytes can be added to it.
func (r *Cleaner) mostBytes(keep settings.Retention, need, size int64) (int64, error) {
	most := keep.MaxBytes
	if most != settings.NoBytes {
		most -= need
	}
	if need == 0 || keep.MinFree <= 0 && most != settings.NoBytes {
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

// dropOldest has the oldest units go that do not fit into target bytes. It reports whether
// there was anything to go, or garbage to be collected.
func (r *Cleaner) dropOldest(ctx context.Context, s *survey, opt CleanOptions, target, most int64, done *Cleaned) (bool, error) {
	rest, err := r.besideObjects()
	if err != nil {
		return false, err
	}
	size, err := r.DB.StoredSizes()
	if err != nil {
		return false, err
	}
	if opt.need == 0 {
		most = settings.NoBytes // as much goes as may
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
		err = nil // what has gone may be enough
	}
	return s.living() < before || done.Freed > freed || done.tight, err
}

// besideObjects is the size of what is neither a pack nor a loose object.
func (r *Cleaner) besideObjects() (int64, error) {
	all, err := r.StoreSize()
	if err != nil {
		return 0, err
	}
	objects, err := r.DB.ObjectBytes()
	return max(0, all-objects), err
}

// overBudget finds out what holds a store that is too large.
func (r *Cleaner) overBudget(ctx context.Context, s *survey, need int64, done *Cleaned) error {
	if done.Blocked != nil || done.Incomplete || need > 0 && !done.stuck {
		return nil // others keep the store busy
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

// copyAtOnce is how large the packs are that a cleaning makes for a capture that waits. One
// that is to be replaced must fit beside itself on the disk. A fraction of the store keeps
// what is old apart from what is new: then the oldest goes with its packs, and little has
// to be copied. 0 = as large as they come.
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

// minCopied is the size below which packs are not kept apart.
const minCopied = 64 << 10

// reserve is how much of the disk a cleaning leaves free. One that makes room may use half
// of what is left: it gives back more than it takes.
func (r *Cleaner) reserve(opt CleanOptions) int64 {
	reserve := settings.WithDefaults(opt.Retention, r.DefaultBudget).MinFree
	if opt.need == 0 {
		return reserve
	}
	free, err := r.FreeSpace()
	if err != nil {
		return reserve
	}
	return min(reserve, free/2)
}

// ErrBusy: another process is at the same work.
var ErrBusy = odb.ErrCollecting
