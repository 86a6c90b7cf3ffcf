//go:build !linux

package atomicfile

// Replace renames a file over another, or to a new name, and leaves nothing. Nothing is
// flushed.
func Replace(temp, path string) (left bool, err error) { return false, Rename(temp, path) }
