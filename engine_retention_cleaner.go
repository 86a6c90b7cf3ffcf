package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// cleaner cleans one store.
type cleaner struct {
	*history.Store

	// BeforeRemove prepares the stat cache for packs that go.
	BeforeRemove func(gone, left []string) error

	// RunClean is Clean, except in tests.
	RunClean func(context.Context, CleanOptions) (*Cleaned, error)
}
