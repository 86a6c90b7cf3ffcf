package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/repair"
)

// CheckOptions says how to check.
type CheckOptions = repair.CheckOptions

// Fault is one fault of a store.
type Fault = repair.Fault

// Loss is one thing that a repair has removed from the history because the store had lost an object
// and found no copy of it.
type Loss = history.Loss

// Check checks the whole store and returns its faults, none for a sound store. Without Fix, the
// lock is held only for a second look at faults that may be the work of a running process. With
// Fix, damaged files are set aside and never deleted, and the faults say what was repaired. Lost
// objects are brought back if another place still holds them. The others are cut out of the
// history, and Losses lists the cuts. The store works afterwards.
func (r *Repo) Check(ctx context.Context, opt CheckOptions) ([]Fault, error) {
	return r.doctor.Check(ctx, opt)
}

// Losses lists everything that repairs of this store have removed, oldest repair first.
func (r *Repo) Losses() ([]Loss, error) {
	return r.store.Losses()
}
