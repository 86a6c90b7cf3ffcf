package apply

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// startWriting has the system begin to write what is in a file to its device.
func startWriting(f *os.File) error { return syncRange(f, unix.SYNC_FILE_RANGE_WRITE) }

// awaitWritten returns when all that is in a file has been handed to its device. That
// is the first half of an fsync, errors included, of this handle since it was opened;
// the second, which makes the file's size and places durable and empties the device's
// cache, serves all files of a file system at once.
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

// awaitsAll reports whether awaitWritten keeps its promise. Before Linux 5.2 it left out
// what was locked at the moment.
func awaitsAll() bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	return atLeast(string(bytes.TrimRight(u.Release[:], "\x00")), 5, 2)
}

// atLeast compares the first two numbers of a release.
func atLeast(release string, major, minor int) bool {
	var has, and int
	n, _ := fmt.Sscanf(release, "%d.%d", &has, &and)
	return n == 2 && (has > major || has == major && and >= minor)
}
