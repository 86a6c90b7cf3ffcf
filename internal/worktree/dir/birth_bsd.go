//go:build darwin || freebsd || netbsd

package dir

import (
	"os"
	"syscall"
)

// BirthOf returns the birth of the directory at path. ok is false where there is none, and where
// the file system does not know when it was made.
func BirthOf(path string) (b Birth, ok bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return Birth{}, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Birthtimespec.Nano() <= 0 {
		return Birth{}, false
	}
	return Birth{uint64(st.Ino), st.Birthtimespec.Nano()}, true
}
