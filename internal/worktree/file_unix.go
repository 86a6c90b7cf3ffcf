//go:build unix

package worktree

import (
	"io"

	"golang.org/x/sys/unix"
)

// file is a file that is open for reading. It is no os.File because that takes four
// more system calls, three of which ask for what regular files do not have, and an
// allocation that has to be finalized: as much as it takes to read a small file.
type file struct{ fd int }

// openFile opens a file for reading; never a symlink, and never blocking on a
// FIFO that took the place of a file.
func (h *dirHandle) openFile(name string) (file, error) {
	fd, err := retryOpen(h.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY)
	return file{fd}, err
}

func (f file) stat() (fileStat, error) {
	var st unix.Stat_t
	for {
		switch err := unix.Fstat(f.fd, &st); err {
		case nil:
			return fromStat(&st), nil
		case unix.EINTR:
		default:
			return fileStat{}, err
		}
	}
}

// maxRead is what some systems read at once.
const maxRead = 1 << 30

func (f file) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, err := unix.Read(f.fd, p[:min(len(p), maxRead)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (f file) Seek(offset int64, whence int) (int64, error) {
	return unix.Seek(f.fd, offset, whence)
}

func (f file) Close() error { return unix.Close(f.fd) }
