//go:build unix

package atomicfile

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSyncDirOfAFIFO: a FIFO in the place of a directory is an error and makes no flush wait
// for a writer.
func TestSyncDirOfAFIFO(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if err := SyncDir(path); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("error %v", err)
	}
}
