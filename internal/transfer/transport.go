package transfer

import (
	"context"
	"github.com/seed-fb9cbc17/cairn/internal/object"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Transport moves checkpoints between stores.
type Transport struct {
	*history.Store

	// Lacking lists the objects that the store has lost.
	Lacking func(context.Context) ([]object.ID, error)
}
