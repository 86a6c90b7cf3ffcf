//go:build linux && (amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x)

package dir

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// Lstat takes a name of a listing, which a NUL follows in memory. The call is made
// by hand because unix.Fstatat copies every name to the heap.
func (h *Handle) Lstat(name []byte) (Info, error) {
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
		return Info{}, errno
	}
}

// LstatQuick is lstat where it is known not to wait: the scheduler is not told about
// the call, which saves a tenth of an unchanged scan. Should it wait after all, then so
// does everything else that wants this processor.
func (h *Handle) LstatQuick(name []byte) (Info, error) {
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
		return Info{}, errno
	}
}

// localTypes are the file systems whose calls wait for nothing but a disk.
var localTypes = []uint32{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
	unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
}

// Local reports whether the directory lies on such a file system.
func (h *Handle) Local() bool { return slices.Contains(localTypes, h.fileSystem()) }

// StampsNames reports whether the directory lies on a file system that gives it new times
// with every name that comes or goes.
func (h *Handle) StampsNames() bool { return atomicfile.KindShowsChanges(h.fileSystem()) }

// fileSystem is the type of the file system, 0 if it cannot be had.
func (h *Handle) fileSystem() uint32 {
	var st unix.Statfs_t
	if unix.Fstatfs(h.fd, &st) != nil {
		return 0
	}
	return uint32(st.Type)
}
