package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// SyncData flushes the contents of a file whose size and blocks do not change.
func SyncData(f *os.File) error {
	return retry(func() error { return unix.Fdatasync(int(f.Fd())) })
}
