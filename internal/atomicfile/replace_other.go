//go:build !linux

package atomicfile

// Replace renames a file over another, or to a new name. Nothing is flushed.
func Replace(temp, path string) error { return Rename(temp, path) }
