package odb

import "golang.org/x/sys/unix"

// ordered reports whether two directories lie on one file system that keeps the order
// of renames: what a flush makes durable comes with all that was renamed before it.
// The journals of ext4 and XFS do that; of others it is not known to us.
func ordered(a, b string) bool {
	var first, second unix.Statfs_t
	if unix.Statfs(a, &first) != nil || unix.Statfs(b, &second) != nil || first.Fsid != second.Fsid {
		return false
	}
	return first.Type == second.Type && (first.Type == unix.EXT4_SUPER_MAGIC || first.Type == unix.XFS_SUPER_MAGIC)
}
