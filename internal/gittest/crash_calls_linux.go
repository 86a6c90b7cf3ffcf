package gittest

import (
	"maps"

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
