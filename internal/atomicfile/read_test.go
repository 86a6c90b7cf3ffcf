package atomicfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Read gives what os.ReadFile gives, and fails as it does.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, size := range []int{0, 1, 41, 511, 512, 513, 1024, 70_000} {
		path, want := filepath.Join(dir, "file"), bytes.Repeat([]byte("cairn"), size)[:size]
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d, %v", size, len(got), err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "none"), filepath.Join(dir, "file", "below")} {
		_, want := os.ReadFile(path)
		if _, err := Read(path); err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}
