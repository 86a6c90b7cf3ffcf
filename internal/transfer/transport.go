package transfer

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Transport moves checkpoints between stores.
type Transport struct {
	*history.Store

	// Lacking lists the objects that the store has lost.
	Lacking func(context.Context) ([]object.ID, error)

	ticks     <-chan time.Time // in place of a clock, for tests
	mostParts int              // in place of envelope.MostParts, for tests; 0 = that

	// Repository returns the user's git repository around the root, nil for none.
	Repository func() *git.Repo
}

// freeSpace returns how many bytes of the disk the store may still take.
func (r *Transport) freeSpace() (int64, error) { return r.DB.FreeSpace() }
