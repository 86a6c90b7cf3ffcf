//go:build !windows

package atomicfile

import (
	"os"
	"syscall"
)

// Rename is os.Rename without its look at what has the new name, which is for a better
// error where that is a directory.
func Rename(from, to string) error {
	if err := retry(func() error { return syscall.Rename(from, to) }); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
