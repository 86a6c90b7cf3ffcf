package odb

import (
	"os"

	"golang.org/x/sys/unix"
)

// beginWriting is sync_file_range, which begins to write and does not wait for the end.
// That it fails, where a file system does not know it, means only that nothing is won.
func beginWriting(f *os.File, from, n int64) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _ = unix.SyncFileRange(int(fd), from, n, unix.SYNC_FILE_RANGE_WRITE) })
}
