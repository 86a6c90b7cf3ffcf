//go:build !linux

package atomicfile

import "os"

// Ordered returns the device that a file lies on, if its file system is known to keep
// the order of changes. Of those of this system that is not known to us.
func Ordered(*os.File) (device uint64, ok bool) { return 0, false }
