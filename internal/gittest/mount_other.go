//go:build !(linux && (amd64 || arm64))

package gittest

import "testing"

// CaseBlindDir returns an empty directory where a name keeps the spelling that it was
// made with, and is found by any other that differs only in case. On macOS an é is also
// found in two characters. Where the file system is not of that kind the test is skipped.
func CaseBlindDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if TellsCase(t, dir) {
		t.Skip("the file system here does not ignore case")
	}
	return dir
}

// UndatedDir returns an empty directory of a file system whose directories have the same
// times for ever. There is none here, so the test is skipped.
func UndatedDir(t testing.TB) string {
	t.Helper()
	t.Skip("no file system of the test's own can be mounted here")
	return ""
}

// LinklessDir returns an empty directory of a file system without hard links and symlinks. There
// is none here, so the test is skipped.
func LinklessDir(t testing.TB) string {
	t.Helper()
	t.Skip("no file system of the test's own can be mounted here")
	return ""
}
