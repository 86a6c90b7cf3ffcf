package operation

import (
	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
)

// Operator carries out operations.
type Operator struct {
	*capture.Capturer

	// Beside opens the Operator of another root, for operations of several roots. The caller of it
	// does not close the Operator.
	Beside func(root string) (*Operator, error)
}

// live is the user's directory, for plans that a capture of it is made into.
func (r *Operator) live(disk *capture.Snapshot) plan.LiveDisk {
	return plan.LiveDisk{Root: r.Root, Index: disk.Index}
}
