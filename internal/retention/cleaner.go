package retention

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Cleaner cleans one store.
type Cleaner struct {
	*history.Store

	// BeforeRemove tells the stat cache which packs will go.
	BeforeRemove func(gone, left []string) error

	// RunClean is Clean; tests replace it.
	RunClean func(context.Context, CleanOptions) (*CleanResult, error)
}
