package cairn

import (
	"context"
	"errors"
)

// Purged is the answer of Purge.
type Purged struct {
	Paths       []string `json:"paths"`       // that were found and purged
	Checkpoints []string `json:"checkpoints"` // that became partial: their ids from now on
	Freed       int64    `json:"freed"`       // bytes
}

// Purge takes the contents of paths, and of everything below them, out of the whole
// history: checkpoints, sessions, operations, pins and what came from elsewhere.
// Checkpoints that held them become partial: the paths count as present, but not
// captured, so that going back leaves them alone. Ids that were handed out before
// still find the partial checkpoints. What lies on the disk is not touched.
func (r *Repo) Purge(ctx context.Context, paths []string) (*Purged, error) {
	return nil, errors.ErrUnsupported
}
