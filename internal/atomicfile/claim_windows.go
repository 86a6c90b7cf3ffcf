package atomicfile

import (
	"errors"
	"io/fs"
	"os"
)

// claim has nothing to do: a file that is open cannot be removed.
func claim(*os.File) bool { return true }

// keepClaim cannot do anything: an open file cannot be renamed. A writer whose file a
// sweep removes in that moment gets an error.
func keepClaim(*os.File) (release func()) { return func() {} }

// Lock does nothing: a lock of Windows keeps others from reading the file, too.
func Lock(*os.File) error { return nil }

func removeDead(path string) (bool, error) {
	err := os.Remove(path)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return true, nil
	case InUse(err):
		return false, nil
	}
	return false, err
}

// SyncDir does nothing: Windows has no way to flush a directory, and NTFS keeps
// its own journal of names.
func SyncDir(string) error { return nil }
