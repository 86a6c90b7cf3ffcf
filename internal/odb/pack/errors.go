package pack

import (
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// ErrNotFound says that an object is not there.
var ErrNotFound = errors.New("not found")

// ErrCorrupt says that something in a store is damaged.
var ErrCorrupt = errors.New("corrupt store")

// ErrGone says that a pack is no longer there: another process removed it, or it was
// closed because it was removed. The remedy is to list the packs again.
var ErrGone = errors.New("pack is gone")

// Corrupt returns an error that is ErrCorrupt. The caller that knows the path adds it.
func Corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}

// Damage returns an ErrCorrupt in place of the error that anything but a regular file is in the
// place of a file. Other errors stay as they are.
func Damage(err error) error {
	if errors.Is(err, atomicfile.ErrNotRegular) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}
