package retention

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Cleaner cleans one store.
type Cleaner struct {
	*history.Store

	// BeforeRemove prepares the stat cache for packs that go.
	BeforeRemove func(gone, left []string) error

	// RunClean is Clean, except in tests.
	RunClean func(context.Context, CleanOptions) (*Cleaned, error)
}
