//go:build unix && !linux

package apply

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// chmodUnreadable is chmodSame for a file or directory that its owner may not open. It does not
// follow a symlink that replaces name in the meantime.
func chmodUnreadable(r *os.Root, name string, _ fs.FileInfo, perm uint16) error {
	dir, err := r.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	conn, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	var opErr error
	err = conn.Control(func(fd uintptr) {
		opErr = unix.Fchmodat(int(fd), name, uint32(perm), unix.AT_SYMLINK_NOFOLLOW)
	})
	return errors.Join(err, opErr)
}
