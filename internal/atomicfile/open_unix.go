//go:build !windows

package atomicfile

import (
	"errors"
	"os"
)

// Open is os.Open.
func Open(path string) (*os.File, error) { return os.Open(path) }

// OpenForUpdate opens a file that is there for reading and writing.
func OpenForUpdate(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }

// SyncFile flushes a file by its name.
func SyncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
