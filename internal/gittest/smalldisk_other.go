//go:build !linux

package gittest

import "testing"

// SmallDisk is not available here.
func SmallDisk(t testing.TB, _ int) string {
	t.Helper()
	t.Skip("small disks are mounted on Linux only")
	return ""
}
