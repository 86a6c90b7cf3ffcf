package odb

import (
	"fmt"
	"math"

	"golang.org/x/sys/windows"
)

// freeSpace returns how many bytes this user may still write to the volume that path
// lies on.
func freeSpace(path string) (int64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return int64(min(free, math.MaxInt64)), nil
}
