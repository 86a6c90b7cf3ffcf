package cairn

import (
	"context"
)

// cleaner cleans one store.
type cleaner struct {
	*store

	// BeforeRemove prepares the stat cache for packs that go.
	BeforeRemove func(gone, left []string) error

	// RunClean is Clean, except in tests.
	RunClean func(context.Context, CleanOptions) (*Cleaned, error)
}
