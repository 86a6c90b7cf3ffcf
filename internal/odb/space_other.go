//go:build !(linux || darwin || freebsd || windows)

package odb

import "math"

// freeSpace does not know: a disk that is full shows when it is written to.
func freeSpace(string) (int64, error) { return math.MaxInt64, nil }
