package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReadFile: a path that is no file, or is too large, gives an error, and a FIFO is not opened.
func TestReadFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "exclude")
	if err := os.WriteFile(path, []byte("*.o\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadFile(path, 4); err != nil || string(data) != "*.o\n" {
		t.Errorf("read %q, %v", data, err)
	}
	if _, err := ReadFile(path, 3); err == nil {
		t.Error("read beyond the limit")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path, 10); !errors.Is(err, errNotRegular) {
		t.Errorf("made a FIFO: %v", err)
	}
}
