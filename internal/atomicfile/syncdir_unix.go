//go:build !windows

package atomicfile

import (
	"errors"
	"fmt"
	"syscall"
)

// SyncDir flushes the names in a directory to the disk. A file system without that call
// answers EINVAL or ENOTSUP, which is no error here: it has no other call for it. Anything
// else than a directory is ENOTDIR, at once.
func SyncDir(path string) error {
	d, err := OpenDir(path)
	if err != nil {
		return fmt.Errorf("flush directory: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("flush directory: %w", err)
	}
	return nil
}
