package atomicfile

import (
	"errors"

	"golang.org/x/sys/windows"
)

// IsFull reports whether an error says that the disk or the user's share of it is full.
func IsFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
