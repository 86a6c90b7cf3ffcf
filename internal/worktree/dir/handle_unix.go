//go:build unix

package dir

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Handle is an open directory. Names are resolved relative to it and never through a
// symlink, so renames by other processes cannot lead out of the root.
type Handle struct{ fd int }

const openFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC

// Open opens the directory path, which may be a symlink.
func Open(path string) (*Handle, error) {
	return openAt(unix.AT_FDCWD, path, openFlags)
}

// OpenDir opens the directory name in h, never through a symlink.
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

// Descriptor returns the file descriptor, -1 on systems that have none.
func (h *Handle) Descriptor() int { return h.fd }

// Close closes the handle.
func (h *Handle) Close() { unix.Close(h.fd) }

// Stat returns the status of the open directory. This takes a third of the time of an lstat
// of its name.
func (h *Handle) Stat() (HandleInfo, error) {
	var st unix.Stat_t
	err := unix.Fstat(h.fd, &st)
	return HandleInfo{Perm: uint16(st.Mode & 0o7777), Device: uint64(st.Dev), Stat: fromStat(&st).Stat}, err
}

// Readlink returns the target of the symlink name.
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

// Classify returns the Failure that err of an lstat, open or read means.
func Classify(err error) Failure {
	switch {
	case errors.Is(err, unix.ENOENT):
		return Gone
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ENXIO), errors.Is(err, unix.EMLINK):
		return Replaced // a link, a file or a socket has replaced the listed file
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EIO),
		errors.Is(err, unix.ESTALE), errors.Is(err, unix.ENAMETOOLONG), errors.Is(err, unix.EBUSY):
		return Unreadable
	case errors.Is(err, unix.EDEADLK), errors.Is(err, unix.ETIMEDOUT):
		return Unreadable // on macOS, the contents are in iCloud only
	case errors.Is(err, unix.ENOTCONN), errors.Is(err, unix.ECONNABORTED), errors.Is(err, unix.EHOSTDOWN), errors.Is(err, unix.EHOSTUNREACH):
		return Unreadable // the process or the machine behind a mount is gone
	}
	return Fatal
}

// Absent reports whether err of an lstat means that there is no such file, and can be none.
func Absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ENAMETOOLONG)
}

// gitMode returns the mode in a git tree, 0 for a type that git has not.
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
