package odb

import (
	"errors"

	"golang.org/x/sys/windows"
)

// inUse reports whether a file could not be removed because somebody has it open.
func inUse(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
