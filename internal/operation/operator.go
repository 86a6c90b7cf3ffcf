package operation

import (
	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
)

// Operator carries out operations.
type Operator struct {
	*capture.Capturer
}

// live is the user's directory, for plans that a capture of it is made into.
func (r *Operator) live(disk *capture.Snapshot) plan.LiveDisk {
	return plan.LiveDisk{Root: r.Root, Index: disk.Index}
}
