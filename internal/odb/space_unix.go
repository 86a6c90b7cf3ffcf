//go:build linux || darwin || freebsd

package odb

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// freeSpace returns how many bytes this user may still write to the file system
// that path lies in.
func freeSpace(path string) (int64, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(path, &st)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
	}
	if st.Bavail <= 0 { // signed on some systems: what only the superuser may use is gone, too
		return 0, nil
	}
	blocks, size := uint64(st.Bavail), uint64(st.Bsize)
	if blocks > math.MaxInt64/max(1, size) {
		return math.MaxInt64, nil
	}
	return int64(blocks * size), nil
}
