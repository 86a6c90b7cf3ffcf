package atomicfile

import "golang.org/x/sys/unix"

// ShowsChanges reports whether the file system of a directory is known to show at once, in
// the directory's times, every change of its names. Those of other machines do not.
func ShowsChanges(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && fs.Flags&unix.MNT_LOCAL != 0
}
