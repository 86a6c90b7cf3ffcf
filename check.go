package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/repair"
)

// CheckOptions says how to check.
type CheckOptions = repair.CheckOptions

// Finding is one thing that is wrong with a store.
type Finding = repair.Finding

// Loss is one thing that a repair has cut out of the history, because an object was lost
// that no place held any more.
type Loss = history.Loss

// Check looks at everything in the store and says what is wrong. A sound store gives
// none. Without Fix it is locked only for a second look, at what somebody may be just
// about. With Fix, damage is put aside, never thrown away, and the findings say what was
// mended. Objects that are lost are brought back from where they still lie. What no place
// holds is cut out of the history, and Losses lists it: the store works afterwards.
func (r *Repo) Check(ctx context.Context, opt CheckOptions) ([]Finding, error) {
	return r.doctor.Check(ctx, opt)
}

// Losses lists all that repairs of this store have cut out, in the order in which they did.
func (r *Repo) Losses() ([]Loss, error) {
	return r.store.Losses()
}

// LossOf says what became of a commit, by the beginning of its id, or of a ref; "" if no
// repair has cut it out.
func (r *Repo) LossOf(name string) string {
	return r.store.LossOf(name)
}
