//go:build linux && (amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x)

package worktree

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// lstat takes a name of a listing, which a NUL follows in memory. The call is made
// by hand because unix.Fstatat copies every name to the heap.
func (h *dirHandle) lstat(name []byte) (fileStat, error) {
	var st unix.Stat_t
	for {
		_, _, errno := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(h.fd), uintptr(unsafe.Pointer(&name[0])),
			uintptr(unsafe.Pointer(&st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
		switch errno {
		case 0:
			return fromStat(&st), nil
		case unix.EINTR:
			continue
		}
		return fileStat{}, errno
	}
}
