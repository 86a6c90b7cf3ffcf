package odb

import (
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// ErrCorrupt says that something in a store is damaged.
var ErrCorrupt = errors.New("corrupt store")

// errGone says that a pack is no longer there: removed by somebody, or closed by us
// because somebody removed it. The remedy is to list the packs again.
var errGone = errors.New("pack is gone")

// corrupt makes an ErrCorrupt. The caller that knows the path adds it.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}

// damage makes an ErrCorrupt of something else than a regular file in the place of one of
// the store's. Other errors stay what they are.
func damage(err error) error {
	if errors.Is(err, atomicfile.ErrNotRegular) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}
