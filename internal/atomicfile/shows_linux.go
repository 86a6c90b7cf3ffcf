package atomicfile

import "golang.org/x/sys/unix"

// ShowsChanges reports whether the file system of a directory is known to give a directory new
// times with every name that is added, removed or exchanged, by any process, and to show them at
// once. Network file systems ask their server only now and then, and a union of several directories
// may show the times of one of them.
func ShowsChanges(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && KindShowsChanges(uint32(fs.Type))
}

// KindShowsChanges is ShowsChanges for the type that statfs gives. An overlay is not among
// them: its lower layers can change under it.
func KindShowsChanges(kind uint32) bool {
	switch kind {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}
