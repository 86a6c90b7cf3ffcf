package pack

import (
	"os"

	"golang.org/x/sys/unix"
)

// beginWriting calls sync_file_range, which begins to write and does not wait for the end.
// An error, on a file system without that call, is ignored: the flush writes all.
func beginWriting(f *os.File, from, n int64) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _ = unix.SyncFileRange(int(fd), from, n, unix.SYNC_FILE_RANGE_WRITE) })
}
