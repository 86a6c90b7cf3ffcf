//go:build unix

package worktree

import (
	"io/fs"
	"syscall"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// lookOf reads the same fields from an fs.FileInfo as a scan does from the system.
func lookOf(fi fs.FileInfo) fileStat {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fileStat{}
	}
	return fileStat{
		mode: gitMode(uint32(st.Mode)),
		perm: uint16(st.Mode & 0o7777),
		stat: index.Stat{
			Size:  st.Size,
			MTime: fi.ModTime().UnixNano(),
			CTime: changeTime(st),
			Ino:   uint64(st.Ino),
		},
	}
}

// linked reports whether the file has more than one name.
func linked(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && !fi.IsDir() && st.Nlink > 1
}

// deviceOf is the number of the file system that a file lies on.
func deviceOf(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}
