package retention

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Cleaner cleans one store.
type Cleaner struct {
	*history.Store

	// RenamePacks tells the stat cache which packs will go.
	RenamePacks func(l *history.Locked, gone, left []string) error

	// RunClean is Clean; tests replace it.
	RunClean func(context.Context, CleanOptions) (*CleanResult, error)
}
