package cairn

import (
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Enabled is nil where captures are wanted.
func (r *capturer) Enabled() error {
	if r.Opt.Disabled == "" {
		return nil
	}
	return state.Disabled(r.Opt.Disabled)
}
