//go:build !windows

package atomicfile

import "syscall"

// retry makes a system call again when a signal has interrupted it.
func retry(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}
