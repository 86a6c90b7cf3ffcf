//go:build !(linux && (amd64 || arm64))

package gittest

import (
	"os"
	"path/filepath"
	"testing"
)

// CaseBlindDir returns an empty directory where a name keeps the spelling that it was
// made with, and is found by any other that differs only in case. On macOS an é is also
// found in two characters. Where the file system is not of that kind the test is skipped.
func CaseBlindDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	probe := filepath.Join(dir, "probe")
	if err := os.WriteFile(probe, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := os.Lstat(filepath.Join(dir, "PROBE"))
	if rerr := os.Remove(probe); rerr != nil {
		t.Fatal(rerr)
	}
	if err != nil {
		t.Skip("the file system here does not ignore case")
	}
	return dir
}
