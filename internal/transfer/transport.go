package transfer

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Transport moves checkpoints between stores.
type Transport struct {
	*history.Store

	// Lacking lists the objects that the store has lost.
	Lacking func(context.Context) ([]object.ID, error)

	// Repository returns the user's git repository around the root, nil for none.
	Repository func() *git.Repo
}
