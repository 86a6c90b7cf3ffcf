//go:build !windows

package odb

import (
	"os"
	"syscall"
)

// links returns how many names a file has, 0 if that is unknown.
func links(path string) int {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return int(st.Nlink)
}
