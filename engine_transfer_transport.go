package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/object"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// transport moves checkpoints between stores.
type transport struct {
	*history.Store

	// Lacking lists the objects that the store has lost.
	Lacking func(context.Context) ([]object.ID, error)
}
