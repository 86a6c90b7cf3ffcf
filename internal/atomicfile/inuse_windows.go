package atomicfile

import (
	"errors"

	"golang.org/x/sys/windows"
)

// InUse reports whether a file could not be renamed or removed because a process has it open, or
// had it open when it was removed and has not closed it yet.
func InUse(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
