package atomicfile

import "os"

// StillAt reports whether a path still leads to the file that was opened there.
func StillAt(path string, opened os.FileInfo) (bool, error) {
	now, err := os.Stat(path)
	if err != nil {
		return false, IgnoreMissing(err)
	}
	return os.SameFile(opened, now), nil
}
