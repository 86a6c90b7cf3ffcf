//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package odb

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockLog waits for the lock of a file, which ends when the file is closed.
func lockLog(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}
