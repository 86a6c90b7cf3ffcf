package atomicfile

import (
	"errors"
	"io/fs"
	"syscall"
)

// IgnoreMissing returns nil in place of an error that says that a file is absent.
func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// IgnoreInUse returns nil in place of an error that says that a process has a file open, which
// keeps it from being removed on some systems.
func IgnoreInUse(err error) error {
	if InUse(err) {
		return nil
	}
	return err
}

// IsNoFile reports whether an error of a read says that the path is no file: absent, a directory,
// or below a file.
func IsNoFile(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR)
}
