package atomicfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// claim has nothing to do: a file that is open cannot be removed.
func claim(*os.File) bool { return true }

// keepClaim cannot do anything: an open file cannot be renamed. Who is swept away in
// that moment gets an error.
func keepClaim(*os.File) (release func()) { return func() {} }

func removeDead(path string) (bool, error) {
	err := os.Remove(path)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return true, nil
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION), errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return false, nil // open, or removed while it was and not closed yet
	}
	return false, err
}

// SyncDir does nothing: Windows has no way to flush a directory, and NTFS keeps
// its own journal of names.
func SyncDir(string) error { return nil }
