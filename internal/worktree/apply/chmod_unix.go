//go:build unix && !linux

package apply

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// chmodUnreadable is chmodSame for a file or directory that its owner may not open. It does not
// follow a symlink that replaces name in the meantime.
func chmodUnreadable(r *os.Root, name string, _ fs.FileInfo, perm uint16) error {
	return withHandle(r, func(fd int) error { return unix.Fchmodat(fd, name, uint32(perm), unix.AT_SYMLINK_NOFOLLOW) })
}
