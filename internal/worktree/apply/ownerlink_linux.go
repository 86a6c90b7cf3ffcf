package apply

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// chownLink gives a symlink to another user. It works on a handle, because that user may put any other
// file at the name meanwhile.
func chownLink(r *os.Root, name string, to owner) error {
	return withHandle(r, func(at int) error { return chownLinkAt(at, name, to) })
}

func chownLinkAt(at int, name string, to owner) error {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return dir.ErrChanged
	}
	if int(st.Uid) == to.uid && int(st.Gid) == to.gid {
		return nil
	}
	return unix.Fchownat(fd, "", to.uid, to.gid, unix.AT_EMPTY_PATH)
}
