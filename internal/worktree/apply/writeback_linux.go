package apply

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// startWriting starts the write-back of a file to its device.
func startWriting(f *os.File) error { return syncRange(f, unix.SYNC_FILE_RANGE_WRITE) }

// awaitWritten waits until all contents of a file were handed to its device. This is the first half
// of an fsync and returns the write errors of this handle since it was opened. The second half
// makes size and location durable and empties the device's cache; it serves all files of a file
// system at once.
func awaitWritten(f *os.File) error {
	return syncRange(f, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
}

func syncRange(f *os.File, flags int) error {
	for {
		err := unix.SyncFileRange(int(f.Fd()), 0, 0, flags)
		if err != unix.EINTR {
			return os.NewSyscallError("sync_file_range", err)
		}
	}
}

// awaitsAll reports whether awaitWritten is reliable. Before Linux 5.2 it left out pages that were
// locked at the time.
func awaitsAll() bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	return atLeast(string(bytes.TrimRight(u.Release[:], "\x00")), 5, 2)
}

// atLeast reports whether a kernel release has at least these first two numbers.
func atLeast(release string, major, minor int) bool {
	var has, and int
	n, _ := fmt.Sscanf(release, "%d.%d", &has, &and)
	return n == 2 && (has > major || has == major && and >= minor)
}
