//go:build unix

package atomicfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// IsFull reports whether an error says that the disk or the user's share of it is full.
func IsFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
