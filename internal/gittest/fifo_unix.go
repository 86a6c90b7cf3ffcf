//go:build unix

package gittest

import (
	"os"

	"golang.org/x/sys/unix"
)

func mkfifo(path string) error {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return &os.PathError{Op: "mkfifo", Path: path, Err: err}
	}
	return os.Chmod(path, 0o644)
}
