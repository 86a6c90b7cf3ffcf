package atomicfile

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Ordered returns the device that a file or directory lies on, and whether its file
// system is known to keep the order of all changes to names, sizes and places of
// contents: what a flush makes durable comes with all that was changed before it, in
// other directories too. The journals of ext4 and XFS do that. Contents themselves are
// ordered only as far as they have reached the device before.
//
// Not taken to be ordered, because it is not or we do not know: ext2, and ext4 without a
// journal or with one elsewhere; XFS that keeps contents on a device of their own;
// everything where /proc and /sys do not tell.
func Ordered(f *os.File) (device uint64, ok bool) {
	var st unix.Stat_t
	var fs unix.Statfs_t
	fd := int(f.Fd())
	if unix.Fstat(fd, &st) != nil || unix.Fstatfs(fd, &fs) != nil {
		return 0, false
	}
	device = uint64(st.Dev)
	number := fmt.Sprintf("%d:%d", unix.Major(device), unix.Minor(device))
	switch uint32(fs.Type) {
	case unix.EXT4_SUPER_MAGIC: // of ext2 and ext3, too
		return device, ext4Journal("/proc", "/sys", number)
	case unix.XFS_SUPER_MAGIC:
		return device, xfsAlone("/proc", number)
	}
	return device, false
}

// ext4Journal reports whether the file system on a device has a journal on that same
// device. The kernel lists it by the name of the device and the inode of the journal,
// which is always 8.
func ext4Journal(proc, sys, number string) bool {
	device, err := os.Readlink(filepath.Join(sys, "dev/block", number))
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(proc, "fs/jbd2", filepath.Base(device)+"-8"))
	return err == nil
}

// xfsAlone reports whether all of an XFS lies on one device.
func xfsAlone(proc, number string) bool {
	f, err := os.Open(filepath.Join(proc, "self/mountinfo"))
	if err != nil {
		return false
	}
	defer f.Close()
	found := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// 27 1 254:0 / /mnt rw,relatime - xfs /dev/vda rw,attr2
		place, kind, _ := strings.Cut(lines.Text(), " - ")
		if words := strings.Fields(place); len(words) < 3 || words[2] != number {
			continue
		}
		words := strings.Fields(kind)
		if len(words) < 3 || words[0] != "xfs" || strings.Contains(words[2], "rtdev=") || strings.Contains(words[2], "logdev=") {
			return false
		}
		found = true
	}
	return found && lines.Err() == nil
}
