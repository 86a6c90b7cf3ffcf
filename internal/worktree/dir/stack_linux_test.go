package dir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpenChildDoesNotBlockOnAFIFO: a FIFO takes the place of the directory between lstat
// and open. The open must not wait for a writer.
func TestOpenChildDoesNotBlockOnAFIFO(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, fifo := filepath.Join(root, "dir"), filepath.Join(root, "fifo")
	succeed(t, os.Mkdir(dir, 0o755))
	succeed(t, unix.Mkfifo(fifo, 0o644))
	exchange := func() error { return unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, fifo, unix.RENAME_EXCHANGE) }
	if err := exchange(); err != nil {
		t.Skipf("cannot exchange names: %v", err)
	}
	top, err := os.OpenRoot(root)
	succeed(t, err)
	defer top.Close()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if r, _, err := openChild(top, "dir"); err == nil {
				r.Close()
			} else if !errors.Is(err, ErrChanged) {
				t.Error(err)
			}
		}
	}()
	for range 40_001 {
		succeed(t, exchange())
	}
	close(stop)
	// A writer can open the FIFO without waiting only if a reader waits for it.
	if fd, err := unix.Open(fifo, unix.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
		t.Error("the open waits for a FIFO")
		unix.Close(fd)
	}
	<-stopped
}
