//go:build linux && (amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x)

package worktree

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
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

// lstatQuick is lstat where it is known not to wait: the scheduler is not told about
// the call, which saves a tenth of an unchanged scan. Should it wait after all, then so
// does everything else that wants this processor.
func (h *dirHandle) lstatQuick(name []byte) (fileStat, error) {
	var st unix.Stat_t
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_NEWFSTATAT, uintptr(h.fd), uintptr(unsafe.Pointer(&name[0])),
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

// localTypes are the file systems whose calls wait for nothing but a disk.
var localTypes = []uint32{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
	unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
}

// local reports whether the directory lies on such a file system.
func (h *dirHandle) local() bool { return slices.Contains(localTypes, h.kind()) }

// stampsNames reports whether the directory lies on a file system that gives it new times
// with every name that comes or goes.
func (h *dirHandle) stampsNames() bool { return atomicfile.KindShowsChanges(h.kind()) }

// kind is the type of the file system, 0 if it cannot be had.
func (h *dirHandle) kind() uint32 {
	var st unix.Statfs_t
	if unix.Fstatfs(h.fd, &st) != nil {
		return 0
	}
	return uint32(st.Type)
}
