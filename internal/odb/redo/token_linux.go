package redo

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// fileSystems are the file systems on which a log is kept: they lie on a disk of this machine, and
// a flush of contents reaches it. A file system in memory needs no flush, and for a disk of
// another machine the boot of this one means nothing.
var fileSystems = []uint32{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
}

// TokenOf names the present boot and the mount that dir lies in. ok is false where no log is kept. A
// kernel before 6.8 gives the name of a mount to another one, in the same boot only after an
// unmount, which flushes.
func TokenOf(dir string) (t Token, ok bool) {
	var fs unix.Statfs_t
	var st unix.Statx_t
	boot := process.BootID()
	if boot == "" || unix.Statfs(dir, &fs) != nil || !slices.Contains(fileSystems, uint32(fs.Type)) ||
		unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_MNT_ID|unix.STATX_MNT_ID_UNIQUE, &st) != nil ||
		st.Mask&(unix.STATX_MNT_ID|unix.STATX_MNT_ID_UNIQUE) == 0 {
		return t, false
	}
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(boot+"\x00"), st.Mnt_id))
	return Token(sum[:]), true
}
