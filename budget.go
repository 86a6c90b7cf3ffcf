package cairn

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// Defaults of the size of a store.
const (
	maxDefaultBudget = 5 << 30 // bytes
	budgetShare      = 10      // of the free disk
)

// adoptRetention applies what Options.Retention says to captures, too, and records
// the default of a new store: a tenth of what is free now must not shrink with every
// track.
func (r *Repo) adoptRetention() {
	if r.opt.Retention == nil {
		return
	}
	if _, err := r.db.ReadPrivate(odb.PrivateBudget); errors.Is(err, odb.ErrNotFound) && !r.opt.MustExist && r.opt.Disabled == "" {
		if err := r.recordBudget(); err != nil {
			r.log.Warn("budget of the store not recorded", "error", err)
		}
	}
	keep := r.opt.Retention.withDefaults(r.DefaultBudget)
	if r.opt.Budget == 0 && keep.MaxBytes != noBytes {
		r.opt.Budget = keep.MaxBytes
	}
	if r.opt.MinFree == 0 {
		r.opt.MinFree = keep.MinFree
	}
}

func (r *Repo) recordBudget() error {
	free, err := r.db.FreeSpace()
	if err != nil {
		return err
	}
	budget := min(maxDefaultBudget, free/budgetShare)
	return errors.Join(
		r.writeNote(false, 0), // there is nothing to be cleaned for a while
		r.db.WritePrivate(odb.PrivateBudget, fmt.Appendf(nil, "%d\n", budget)),
	)
}

// DefaultBudget is the size in bytes that the store keeps to unless a Retention says
// otherwise: the smaller of 5 GiB and a tenth of what was free when it was made.
func (r *Repo) DefaultBudget() int64 {
	data, err := r.db.ReadPrivate(odb.PrivateBudget)
	if err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && n > 0 {
			return n
		}
	}
	return maxDefaultBudget
}

// enabled is nil where captures are wanted.
func (r *Repo) enabled() error {
	if r.opt.Disabled == "" {
		return nil
	}
	return disabled(r.opt.Disabled)
}

func disabled(why string) error { return fmt.Errorf("%w: %s", ErrDisabled, why) }
