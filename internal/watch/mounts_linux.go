package watch

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mountTable lists the mounts that this process sees. Polling it tells whether one came, went or
// got other options since the last poll.
const mountTable = "/proc/self/mountinfo"

// mounts follows the mounts at, above and below a root. inotify does not: a mount over a directory
// causes no event in it.
type mounts struct {
	root   string
	handle int      // descriptor of the table, -1 = closed
	near   string   // the relevant lines of the table
	inside bool     // something is mounted below the root
	files  []string // mount points below the root that are no directories
}

func openMounts(root string) (*mounts, error) {
	m := &mounts{root: root, handle: -1}
	var err error
	if m.handle, err = unix.Open(mountTable, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		if err = m.read(); err == nil {
			return m, nil
		}
	}
	m.close()
	return nil, fmt.Errorf("%w: changes of mounts cannot be seen: %w", ErrUnsupported, err)
}

func (m *mounts) close() {
	if m != nil && m.handle >= 0 {
		_ = unix.Close(m.handle)
		m.handle = -1
	}
}

// changed reports whether a relevant mount has come or gone since the last call. It is true if that
// is not known. Mounts elsewhere, which containers make all the time, do not count.
//
// Equal tables mean equal mounts: the kernel reuses the number of a mount only when its file system
// is gone for good, and inotify reports that.
func (m *mounts) changed() bool {
	fds := []unix.PollFd{{Fd: int32(m.handle), Events: unix.POLLPRI}}
	n, err := unix.Poll(fds, 0)
	for err == unix.EINTR {
		n, err = unix.Poll(fds, 0)
	}
	if err == nil && n == 0 {
		return false
	}
	before := m.near
	return err != nil || m.read() != nil || m.near != before
}

func (m *mounts) read() error {
	data, err := os.ReadFile(mountTable)
	if err != nil {
		return err
	}
	var near strings.Builder
	m.inside, m.files = false, nil
	for line := range strings.Lines(string(data)) {
		point := mountPoint(line)
		below := m.below(point)
		if below == "" && point != "/" && point != m.root && !strings.HasPrefix(m.root, point+"/") {
			continue
		}
		near.WriteString(line)
		if below == "" {
			continue
		}
		m.inside = true
		if !isDir(point) {
			m.files = append(m.files, below)
		}
	}
	m.near = near.String()
	return nil
}

// below returns the path of a mount point below the root, "" if it is elsewhere.
func (m *mounts) below(point string) string {
	if m.root == "/" {
		return strings.TrimPrefix(point, "/")
	}
	if rest, ok := strings.CutPrefix(point, m.root+"/"); ok {
		return rest
	}
	return ""
}

// mountPoint is the fifth field of a line of the table.
func mountPoint(line string) string {
	fields := strings.SplitN(line, " ", 6)
	if len(fields) < 6 {
		return ""
	}
	return unescape(fields[4])
}

// unescape decodes blanks and the like in the table, such as \040.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && octal(s[i+1:i+4]) {
			out.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

func octal(digits string) bool { return strings.Trim(digits, "01234567") == "" }

// isDir asks no other machine. A path that cannot be examined counts as a directory; opening it
// later shows what it is.
func isDir(path string) bool {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT|unix.AT_STATX_DONT_SYNC, unix.STATX_TYPE, &st)
	return err != nil || st.Mode&unix.S_IFMT == unix.S_IFDIR
}

var errRemote = fmt.Errorf("%w: it lies on a file system that others may change unseen, such as a network file system, FUSE or overlayfs", ErrUnsupported)

// remote reports whether other machines, or another file system below, may change a file system
// without this kernel's knowledge. One that is not known to be local counts as remote.
func remote(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) != nil || remoteType(uint32(st.Type))
}

// remoteHandle is remote for an open directory.
func remoteHandle(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) != nil || remoteType(uint32(st.Type))
}

// File systems without a name in package unix.
const (
	zfsMagic   = 0x2fc12fc1
	jfsMagic   = 0x3153464a
	ntfs3Magic = 0x7366746e
	hfsMagic   = 0x482b
	ubifsMagic = 0x24051905
)

// local are file systems on a disk or in the memory of this machine that nothing but its kernel
// changes. Shared folders of virtual machines (vboxsf, prl_fs, 9p) and file systems on top of
// others (ecryptfs, overlayfs) are none.
var local = []uint32{
	unix.EXT4_SUPER_MAGIC, // of ext2 and ext3, too
	unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.BCACHEFS_SUPER_MAGIC, zfsMagic,
	unix.TMPFS_MAGIC, unix.RAMFS_MAGIC,
	unix.EXFAT_SUPER_MAGIC, unix.MSDOS_SUPER_MAGIC, ntfs3Magic, hfsMagic,
	jfsMagic, unix.REISERFS_SUPER_MAGIC, unix.NILFS_SUPER_MAGIC, ubifsMagic, unix.JFFS2_SUPER_MAGIC,
}

func remoteType(kind uint32) bool { return !slices.Contains(local, kind) }
