//go:build !(linux && (amd64 || arm64))

package gittest

import "testing"

// UndatedDir returns an empty directory of a file system whose directories have the same
// times for ever. There is none here, so the test is skipped.
func UndatedDir(t testing.TB) string {
	t.Helper()
	t.Skip("no file system of the test's own can be mounted here")
	return ""
}
