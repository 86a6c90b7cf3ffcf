//go:build unix

package redo

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFlushOfDirectoriesPassesOverOthers: a FIFO or a file in the place of a directory of refs
// makes no flush wait or fail. An error of another kind is returned.
func TestFlushOfDirectoriesPassesOverOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo, file := filepath.Join(dir, "fifo"), filepath.Join(dir, "file")
	must(t, unix.Mkfifo(fifo, 0o600))
	must(t, os.WriteFile(file, nil, 0o600))
	must(t, flushDirs([]string{fifo, file, filepath.Join(dir, "gone"), filepath.Join(file, "below"), dir}))
	loop := filepath.Join(dir, "loop")
	must(t, os.Symlink(loop, loop))
	if err := flushDirs([]string{dir, loop}); !errors.Is(err, unix.ELOOP) {
		t.Errorf("error %v, want %v", err, unix.ELOOP)
	}
}
