//go:build unix

package dir

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestClassify: one path that cannot be read must not end the capture of all others. An error that is not
// about the path does.
func TestClassify(t *testing.T) {
	t.Parallel()
	for err, want := range map[unix.Errno]Failure{
		unix.ENOENT: Gone, unix.ELOOP: Replaced, unix.ENOTDIR: Replaced, unix.ENXIO: Replaced,
		unix.EACCES: Unreadable, unix.EPERM: Unreadable, unix.EIO: Unreadable, unix.ESTALE: Unreadable,
		unix.EDEADLK: Unreadable, unix.ETIMEDOUT: Unreadable, // evicted by iCloud
		unix.ENOTCONN: Unreadable, unix.ECONNABORTED: Unreadable, unix.EHOSTDOWN: Unreadable, // a dead mount
		unix.EMFILE: Fatal, unix.ENFILE: Fatal, unix.ENOMEM: Fatal, unix.EBADF: Fatal, unix.ENOSPC: Fatal,
	} {
		if got := Classify(err); got != want {
			t.Errorf("%v is %d, want %d", err, got, want)
		}
		if got := Classify(&os.PathError{Op: "fdopendir", Path: "x", Err: os.NewSyscallError("read", err)}); got != want {
			t.Errorf("%v in other errors is %d, want %d", err, got, want)
		}
	}
}
