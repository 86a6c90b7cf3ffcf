package gittest

import "golang.org/x/sys/unix"

// freeInMemory returns the number of free bytes of a file system in memory, 0 for any other.
func freeInMemory(dir string) int64 {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil || int64(fs.Type) != unix.TMPFS_MAGIC {
		return 0
	}
	return int64(fs.Bavail) * int64(fs.Bsize)
}
