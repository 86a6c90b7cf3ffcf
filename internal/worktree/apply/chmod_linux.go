package apply

import (
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// chmodUnreadable is chmodSame for a file or directory that its owner may not open. An O_PATH
// handle needs no permission on the file itself. fchmod refuses such a handle; chmod of its name
// under /proc works on every kernel.
func chmodUnreadable(r *os.Root, name string, fi fs.FileInfo, perm uint16) error {
	return withHandle(r, func(fd int) error { return chmodByPath(fd, name, fi, perm) })
}

func chmodByPath(dirfd int, name string, fi fs.FileInfo, perm uint16) error {
	fd, err := unix.Openat(dirfd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(fi, now) {
		return dir.ErrChanged
	}
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), uint32(perm))
}
