//go:build unix && !darwin

package apply

import "golang.org/x/sys/unix"

// syncFile flushes a file to the medium.
func syncFile(fd int) error { return unix.Fsync(fd) }
