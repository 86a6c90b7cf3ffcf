//go:build unix

package dir

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Handle is an open directory. Names are resolved relative to it and never
// through a symlink, so that nobody can lead a scan out of the root by renaming.
type Handle struct{ fd int }

const openFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC

func Open(path string) (*Handle, error) {
	return openAt(unix.AT_FDCWD, path, openFlags)
}

func (h *Handle) OpenDir(name string) (*Handle, error) {
	return openAt(h.fd, name, openFlags|unix.O_NOFOLLOW)
}

func openAt(fd int, name string, flags int) (*Handle, error) {
	fd, err := retryOpen(fd, name, flags)
	if err != nil {
		return nil, err
	}
	return &Handle{fd}, nil
}

func retryOpen(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func (h *Handle) Descriptor() int { return h.fd }

func (h *Handle) Close() { unix.Close(h.fd) }

// Stat asks the open directory, which takes a third of the time of a look at its name.
func (h *Handle) Stat() (HandleInfo, error) {
	var st unix.Stat_t
	err := unix.Fstat(h.fd, &st)
	return HandleInfo{Perm: uint16(st.Mode & 0o7777), Device: uint64(st.Dev), Stat: fromStat(&st).Stat}, err
}

func (h *Handle) Readlink(name string) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(h.fd, name, buf)
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

// Classify sorts the errors of looking at a path.
func Classify(err error) Failure {
	switch {
	case errors.Is(err, unix.ENOENT):
		return Gone
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ENXIO), errors.Is(err, unix.EMLINK):
		return Replaced // a link, a file or a socket has taken the place since the listing
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EIO),
		errors.Is(err, unix.ESTALE), errors.Is(err, unix.ENAMETOOLONG), errors.Is(err, unix.EBUSY):
		return Unreadable
	}
	return Fatal
}

// gitMode is the mode a git tree would show; 0 for what it cannot hold.
func gitMode(mode uint32) object.Mode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		if mode&unix.S_IXUSR != 0 {
			return object.Executable
		}
		return object.Regular
	case unix.S_IFLNK:
		return object.Symlink
	case unix.S_IFDIR:
		return object.Dir
	}
	return 0
}
