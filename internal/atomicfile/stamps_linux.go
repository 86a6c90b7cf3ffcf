package atomicfile

import (
	"os"
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

// DirsMayStampFinely reports whether the file system of a directory is one that, from Linux
// 6.13 on, gives directories that were looked at a time of their own with the next change.
func DirsMayStampFinely(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && mayStampFinely(&fs).Dirs
}

// mayStampFinely is what is known of the kinds. A tmpfs stamps a directory with the time of
// the file that is linked into it or removed from it: that may be the one it has.
func mayStampFinely(fs *unix.Statfs_t) Fine {
	switch uint32(fs.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC:
		return Fine{Files: true, Dirs: true}
	case unix.TMPFS_MAGIC:
		return Fine{Files: true}
	}
	return Fine{}
}

// StampsFinely tells what the file system of f stamps finely. To find out it sets the bits
// of f, which nobody else may know yet, to what they are. That nothing is may mean that
// nothing could be seen.
func StampsFinely(f *os.File) Fine {
	var fs unix.Statfs_t
	fd := int(f.Fd())
	if unix.Fstatfs(fd, &fs) != nil {
		return Fine{}
	}
	if may := mayStampFinely(&fs); may != (Fine{}) && seenFine(fd) {
		return may
	}
	return Fine{}
}

// seenFine reports whether a change is seen that has a later time than the ticks give.
func seenFine(fd int) bool {
	for range stampTries {
		tick := Tick()
		stamp, err := restamp(fd)
		if err != nil || tick.IsZero() {
			return false
		}
		if tick.Equal(Tick()) {
			return stamp.After(tick)
		}
	}
	return false
}

// stampTries is how often a probe may be cut in two by a tick.
const stampTries = 3

// restamp changes a file twice and returns the time of the second change, which comes after
// a look at the first one.
func restamp(fd int) (stamp time.Time, err error) {
	var st unix.Stat_t
	for range 2 {
		if err := unix.Fstat(fd, &st); err != nil {
			return stamp, err
		}
		if err := unix.Fchmod(fd, st.Mode&0o7777); err != nil {
			return stamp, err
		}
	}
	err = unix.Fstat(fd, &st)
	return time.Unix(st.Ctim.Unix()), err
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
