//go:build unix

package dir

import (
	"io/fs"
	"syscall"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// InfoOf converts the result of package os. It equals the Info of an lstat of the same file.
func InfoOf(fi fs.FileInfo) Info {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Info{}
	}
	return Info{
		Mode: gitMode(uint32(st.Mode)),
		Perm: uint16(st.Mode & 0o7777),
		Stat: index.Stat{
			Size:  st.Size,
			MTime: fi.ModTime().UnixNano(),
			CTime: changeTime(st),
			Ino:   uint64(st.Ino),
		},
		Linked: st.Nlink > 1 && fi.Mode().IsRegular(),
	}
}

// Links returns the number of hard links of a file, 1 if unknown.
func Links(fi fs.FileInfo) int {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && !fi.IsDir() {
		return int(st.Nlink)
	}
	return 1
}

// OwnerOf returns the user and the group of a file. ok is false if they are unknown.
func OwnerOf(fi fs.FileInfo) (uid, gid int, ok bool) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid), int(st.Gid), true
	}
	return 0, 0, false
}

// DeviceOf returns the device number of the file system of a file, 0 if unknown.
func DeviceOf(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}
