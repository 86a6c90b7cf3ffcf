//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// claim locks a file just made, and reports false when a sweeper was faster. If the file system has
// no locks, the file is still the caller's: removeDead will not get a lock on it either.
func claim(f *os.File) bool {
	if err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return false
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Nlink > 0
}

// keepClaim keeps a file claimed after it is closed, until release is called. It stands
// for the same opening of the file, so no lock is taken or given up. Where it fails the
// claim ends with the file.
func keepClaim(f *os.File) (release func()) {
	release = func() {}
	if conn, err := f.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) {
			if again, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err == nil {
				release = func() { unix.Close(again) }
			}
		})
	}
	return release
}

// removeDead removes the file while it holds the lock, so that a writer between
// making and claiming its file notices.
func removeDead(path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false, nil
	}
	if err := RemoveIfThere(path); err != nil {
		return false, err
	}
	return true, nil
}

// Lock waits for the lock of a file, which ends when the file is closed.
func Lock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

func flock(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var lerr error
	err = conn.Control(func(fd uintptr) {
		lerr = retry(func() error { return syscall.Flock(int(fd), how) })
	})
	return errors.Join(err, lerr)
}
