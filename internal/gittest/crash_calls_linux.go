package gittest

import (
	"fmt"
	"maps"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// syscallNumbers are the calls that can be named.
var syscallNumbers = func() map[string]uint64 {
	all := map[string]uint64{
		"openat": unix.SYS_OPENAT, "openat2": unix.SYS_OPENAT2, "close": unix.SYS_CLOSE, "read": unix.SYS_READ,
		"pread64": unix.SYS_PREAD64, "write": unix.SYS_WRITE, "pwrite64": unix.SYS_PWRITE64, "writev": unix.SYS_WRITEV,
		"renameat2": unix.SYS_RENAMEAT2, "unlinkat": unix.SYS_UNLINKAT, "mkdirat": unix.SYS_MKDIRAT,
		"symlinkat": unix.SYS_SYMLINKAT, "linkat": unix.SYS_LINKAT, "mknodat": unix.SYS_MKNODAT,
		"fchmod": unix.SYS_FCHMOD, "fchmodat": unix.SYS_FCHMODAT, "fchmodat2": unix.SYS_FCHMODAT2,
		"utimensat": unix.SYS_UTIMENSAT, "fsync": unix.SYS_FSYNC, "fdatasync": unix.SYS_FDATASYNC, "syncfs": unix.SYS_SYNCFS,
		"truncate": unix.SYS_TRUNCATE, "ftruncate": unix.SYS_FTRUNCATE,
		"copy_file_range": unix.SYS_COPY_FILE_RANGE, "getdents64": unix.SYS_GETDENTS64, "flock": unix.SYS_FLOCK,
	}
	maps.Copy(all, legacyCalls)
	return all
}()

// wakesItself tells whether a call writes to an event counter. So the Go runtime
// wakes its network poller: that write changes no file, comes at any time, and ends
// the program if it fails.
func wakesItself(tid int, call string, fd uint64) bool {
	if call != "write" {
		return false
	}
	target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(fd)))
	return err == nil && target == "anon_inode:[eventfd]"
}

// syscallInfo tells which system call a stopped thread is entering, with its first
// argument, or leaving. It needs Linux 5.3.
func syscallInfo(tid int) (nr, arg uint64, entering bool, err error) {
	var info struct { // struct ptrace_syscall_info
		op    uint8
		_     [3]uint8
		arch  uint32
		ip    uint64
		sp    uint64
		entry struct{ nr, arg uint64 }
		_     [6]uint64
	}
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid),
		unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return 0, 0, false, errno
	}
	return info.entry.nr, info.entry.arg, info.op == unix.PTRACE_SYSCALL_INFO_ENTRY, nil
}
