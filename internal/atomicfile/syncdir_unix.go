//go:build !windows

package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// SyncDir flushes the names in a directory to the disk. File systems that cannot
// do that for a directory say so with EINVAL or ENOTSUP; there is then nothing
// more that can be done.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("flush directory: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("flush directory: %w", err)
	}
	return nil
}
