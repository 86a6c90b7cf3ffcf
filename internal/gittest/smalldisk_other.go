//go:build !linux

package gittest

import "testing"

// SmallDisk is not available here.
func SmallDisk(t testing.TB, _ int) string {
	t.Helper()
	t.Skip("small disks are mounted on Linux only")
	return ""
}

// AppendOnly skips the test: only Linux makes a directory take additions alone.
func AppendOnly(t testing.TB, _ string) {
	t.Helper()
	t.Skip("no directory takes additions alone here")
}
