package retention

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// Defaults of the size of a store.
const (
	maxDefaultBudget = 5 << 30 // bytes
	budgetShare      = 10      // of the free disk
)

// AdoptRetention applies what Options.Retention says to captures, too, and records
// the default of a new store: a tenth of what is free now must not shrink with every
// track.
func (r *Cleaner) AdoptRetention() {
	if r.Opt.Retention == nil {
		return
	}
	if _, err := r.DB.ReadPrivate(odb.PrivateBudget); errors.Is(err, odb.ErrNotFound) && !r.Opt.MustExist && r.Opt.Disabled == "" {
		if err := r.recordBudget(); err != nil {
			r.Log.Warn("budget of the store not recorded", "error", err)
		}
	}
	keep := settings.WithDefaults(*r.Opt.Retention, r.DefaultBudget)
	if r.Opt.Budget == 0 && keep.MaxBytes != settings.NoBytes {
		r.Opt.Budget = keep.MaxBytes
	}
	if r.Opt.MinFree == 0 {
		r.Opt.MinFree = keep.MinFree
	}
}

func (r *Cleaner) recordBudget() error {
	free, err := r.DB.FreeSpace()
	if err != nil {
		return err
	}
	budget := min(maxDefaultBudget, free/budgetShare)
	return errors.Join(
		r.writeNote(false, 0), // there is nothing to be cleaned for a while
		r.DB.WritePrivate(odb.PrivateBudget, fmt.Appendf(nil, "%d\n", budget)),
	)
}

// DefaultBudget is the size in bytes that the store keeps to unless a Retention says
// otherwise: the smaller of 5 GiB and a tenth of what was free when it was made.
func (r *Cleaner) DefaultBudget() int64 {
	data, err := r.DB.ReadPrivate(odb.PrivateBudget)
	if err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && n > 0 {
			return n
		}
	}
	return maxDefaultBudget
}
