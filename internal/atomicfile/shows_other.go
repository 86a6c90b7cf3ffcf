//go:build !linux && !darwin && !windows

package atomicfile

// ShowsChanges reports whether the file system of a directory is known to show at once, in
// the directory's times, every change of its names.
func ShowsChanges(dir string) bool { return false }
