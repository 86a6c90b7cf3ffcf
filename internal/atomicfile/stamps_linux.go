package atomicfile

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// mayStampFinely tells what the kinds of file systems may stamp finely from Linux 6.13 on.
// A tmpfs stamps a directory with the time of the file that is linked into it or removed
// from it: that may be the time the directory has already.
func mayStampFinely(fs *unix.Statfs_t) Fine {
	switch uint32(fs.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC:
		return Fine{Files: true, Dirs: true}
	case unix.TMPFS_MAGIC:
		return Fine{Files: true}
	}
	return Fine{}
}

// StampsFinely tells what the file system of f stamps finely. To find out it sets the bits of f,
// which no other process may know yet, to their present value. A zero result may also mean that
// nothing could be observed.
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
		before := tick()
		stamp, err := restamp(fd)
		if err != nil || before.IsZero() {
			return false
		}
		if before.Equal(tick()) {
			return stamp.After(before)
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

// tick is the time that a change is stamped with where stamps go by the ticks of the
// kernel, zero where the kernel does not tell. A later stamp of a change, with the same
// tick before it and after it, shows that stamps are finer.
func tick() time.Time {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts) != nil {
		return time.Time{}
	}
	return time.Unix(ts.Unix())
}
