//go:build !linux

package atomicfile

import "os"

// SyncData flushes the contents of a file, and here all else of it.
func SyncData(f *os.File) error { return f.Sync() }
