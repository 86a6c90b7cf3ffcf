package atomicfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Replace renames a small file over another, or to a new name.
// Where both are files it exchanges the two and removes the old one: ext4 takes a rename
// over a file to mean that the new contents are wanted on the disk at once, which costs
// ten times as much. Nothing is flushed, and a kill in between leaves the old contents
// under the temporary name.
func Replace(temp, path string) error {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || !exchange(temp, path) {
		return Rename(temp, path)
	}
	if err := os.Remove(temp); err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	exchange(temp, path) // it was no file any more
	return Rename(temp, path)
}

// exchange reports whether two names have changed places. Not every file system can.
func exchange(a, b string) bool {
	for {
		if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != unix.EINTR {
			return err == nil
		}
	}
}
