//go:build !windows

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// Open opens a regular file for reading. It does not wait for the other end of a FIFO.
func Open(path string) (*os.File, error) { return openRegular(path, os.O_RDONLY) }

// OpenForUpdate opens a regular file that is there for reading and writing.
func OpenForUpdate(path string) (*os.File, error) { return openRegular(path, os.O_RDWR) }

// OpenOrCreate opens a regular file for reading and writing, and makes it if it is not
// there. A symlink is not followed: the file would be made where that leads.
func OpenOrCreate(path string) (*os.File, error) {
	f, err := openRegular(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW)
	if errors.Is(err, syscall.ELOOP) {
		return nil, notRegular(path)
	}
	return f, err
}

func openRegular(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0o600)
	if err != nil {
		return nil, err
	}
	return onlyRegular(f)
}

// OpenDir opens a directory. Anything else at the path is ENOTDIR, a FIFO too: the call does
// not wait for its other end.
func OpenDir(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

// SyncFile flushes a file by its name.
func SyncFile(path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
