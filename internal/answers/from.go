package answers

import "github.com/seed-fb9cbc17/cairn"

// From says whose a checkpoint is that was listed by cairn.LogOptions.Fetched: that of a machine, or imported. from is
// nil for an imported one, and for those of this store.
func From(c *cairn.Checkpoint) (from *cairn.Machine, imported bool) {
	switch m, ok := c.From(); {
	case !ok:
		return nil, false
	case m == (cairn.Machine{}):
		return nil, true
	default:
		return &m, false
	}
}
