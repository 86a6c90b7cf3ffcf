package apply

import (
	"errors"

	"golang.org/x/sys/unix"
)

// syncFile flushes a file to the medium. On macOS an fsync ends when the drive has the contents in its
// cache; some network file systems know nothing else.
func syncFile(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	if errors.Is(err, unix.ENOTSUP) {
		return unix.Fsync(fd)
	}
	return err
}
