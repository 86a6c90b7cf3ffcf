package atomicfile

import (
	"time"

	"golang.org/x/sys/unix"
)

// OneMount reports whether two directories lie on one mount of one file system, so that
// files can be renamed from one to the other.
func OneMount(a, b string) bool {
	const wanted = unix.STATX_BASIC_STATS | unix.STATX_MNT_ID
	var at [2]unix.Statx_t
	for i, dir := range []string{a, b} {
		if unix.Statx(unix.AT_FDCWD, dir, 0, wanted, &at[i]) != nil || at[i].Mask&unix.STATX_MNT_ID == 0 {
			return false
		}
	}
	return at[0].Mnt_id == at[1].Mnt_id && at[0].Dev_major == at[1].Dev_major && at[0].Dev_minor == at[1].Dev_minor
}

// MayStampFinely reports whether the file system of a path is one that, from Linux 6.13
// on, gives whatever was looked at a time of its own with the next change.
func MayStampFinely(path string) bool {
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) != nil {
		return false
	}
	switch fs.Type {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}

// Tick is the time that a change would be stamped with if stamps go by the ticks of the
// kernel, zero if nobody knows. A later stamp of a change, with the same tick before it
// and after it, shows that they do not.
func Tick() time.Time {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts) != nil {
		return time.Time{}
	}
	return time.Unix(ts.Unix())
}
