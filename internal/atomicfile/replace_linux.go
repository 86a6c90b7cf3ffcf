package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// Replace renames a small file over another, or to a new name.
// Where both are files it exchanges the two: ext4 takes a rename over a file to mean that
// the new contents are wanted on the disk at once, which costs ten times as much. The old
// file is left then, under the temporary name, for the caller to remove. Nothing is flushed.
func Replace(temp, path string) (left bool, err error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || !exchange(temp, path) {
		return false, Rename(temp, path)
	}
	if info, err := os.Lstat(temp); err != nil || info.Mode().IsRegular() {
		return err == nil, nil // or a sweep has removed it
	}
	exchange(temp, path) // it was no file any more
	return false, Rename(temp, path)
}

// exchange reports whether two names have changed places. Not every file system can.
func exchange(a, b string) bool {
	return retry(func() error {
		return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	}) == nil
}
