package odb

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// redoTypes are the file systems on which a log is kept: on a disk of this machine. It
// takes nothing of them but that a flush of contents is one. On memory there is nothing
// to flush, and of a disk elsewhere our boot tells nothing.
var redoTypes = []uint32{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
}

// tokenOf names the present boot and the mount that dir lies in. Kernels before 6.8
// use the names of mounts again, in the same boot only after an unmount, which flushes.
func tokenOf(dir string) (t redoToken, ok bool) {
	var fs unix.Statfs_t
	var st unix.Statx_t
	boot := process.BootID()
	if boot == "" || unix.Statfs(dir, &fs) != nil || !slices.Contains(redoTypes, uint32(fs.Type)) ||
		unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_MNT_ID|unix.STATX_MNT_ID_UNIQUE, &st) != nil ||
		st.Mask&(unix.STATX_MNT_ID|unix.STATX_MNT_ID_UNIQUE) == 0 {
		return t, false
	}
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(boot+"\x00"), st.Mnt_id))
	return redoToken(sum[:]), true
}
