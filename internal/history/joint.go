package history

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Joint names an operation that goes over several roots. The store of each root has a record of its
// share, with the same Joint.
type Joint struct {
	ID    string      `json:"id"`
	Roots state.Paths `json:"roots" doc:"Absolute paths of the directories, sorted."`
}

// ShareOf returns the share that this root has in a joint operation, nil if the log has none, and
// whether a later operation has taken it back.
func (r *Store) ShareOf(ctx context.Context, id string) (share *Operation, undone bool, err error) {
	taken := make(map[string]bool)
	for op, err := range r.Operations(ctx) {
		if err != nil {
			return nil, false, err
		}
		if op.Undoes != "" && len(op.scope) == 0 && !taken[op.ID] {
			taken[op.Undoes] = true
		}
		if op.Joint != nil && op.Joint.ID == id {
			return op, taken[op.ID], nil
		}
	}
	return nil, false, nil
}
