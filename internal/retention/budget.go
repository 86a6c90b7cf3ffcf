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

// AdoptRetention applies the limits of Options.Retention to captures. For a new store it also
// records the default budget: a tenth of the free space would otherwise shrink with every track.
func (r *Cleaner) AdoptRetention() {
	if r.Opt.Retention == nil {
		return
	}
	if _, known := r.recordedBudget(); !known && !r.Opt.MustExist && r.Opt.Disabled == "" {
		if err := r.recordBudget(); err != nil {
			r.Log.Warn("budget of the store not recorded", "error", err)
		}
	}
	keep := settings.WithDefaults(*r.Opt.Retention, r.DefaultBudget)
	r.Room.MinFree = keep.MinFree
	if keep.MaxBytes != settings.NoBytes {
		r.Room.MaxBytes = keep.MaxBytes
	}
}

func (r *Cleaner) recordBudget() error {
	free, err := r.DB.FreeSpace()
	if err != nil {
		return err
	}
	budget := min(maxDefaultBudget, free/budgetShare)
	return errors.Join(
		r.writeNote(false, 0), // makes the first cleaning due later
		r.DB.NotePrivate(odb.PrivateBudget, []byte(budgetText(budget))),
	)
}

func budgetText(bytes int64) string { return fmt.Sprintln(bytes) }

// DefaultBudget is the size limit of the store in bytes for a Retention that sets none: the smaller
// of 5 GiB and a tenth of the disk space that was free when the store was made.
func (r *Cleaner) DefaultBudget() int64 {
	if n, known := r.recordedBudget(); known {
		return n
	}
	return maxDefaultBudget
}

// recordedBudget returns the budget that was recorded when the store was made. A loss of power may
// leave the file absent or empty, and then known is false. So it is for a number that recordBudget does not
// write: a record that is cut off would have the next cleaning remove nearly everything.
func (r *Cleaner) recordedBudget() (bytes int64, known bool) {
	data, err := r.DB.ReadPrivate(odb.PrivateBudget)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(string(data), "\n"), 10, 64)
	return n, err == nil && 0 < n && n <= maxDefaultBudget && string(data) == budgetText(n)
}
