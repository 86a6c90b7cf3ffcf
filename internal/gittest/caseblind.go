package gittest

import (
	"os"
	"path/filepath"
	"testing"
)

// TellsCase reports whether names that differ only in case are two in a directory, where
// it leaves nothing behind.
func TellsCase(t testing.TB, dir string) bool {
	t.Helper()
	probe := filepath.Join(dir, "cairn-probe")
	if err := os.WriteFile(probe, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := os.Lstat(filepath.Join(dir, "CAIRN-PROBE"))
	if err := os.Remove(probe); err != nil {
		t.Fatal(err)
	}
	return err != nil
}
