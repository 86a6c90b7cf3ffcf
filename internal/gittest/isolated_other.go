//go:build !linux

package gittest

import "testing"

// Isolated is not available here.
func Isolated(t *testing.T) bool {
	t.Helper()
	t.Skip("mounts and limits of a process are tested on Linux only")
	return false
}
