//go:build unix

package odb

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestV13_FlushPassesOverAFIFO: a FIFO in the place of a ref that the redo log promises
// makes no flush wait for a writer.
func TestV13_FlushPassesOverAFIFO(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	put(t, db, []byte("a"), "refs/cairn/disk")
	if len(logged(t, db)) == 0 {
		t.Fatal("the log does not promise the ref")
	}
	path := db.refPath("refs/cairn/disk")
	must(t, os.Remove(path))
	must(t, unix.Mkfifo(path, 0o600))
	files, _ := db.vouchedFor(logged(t, db), nil)
	must(t, flushPaths(files))
}

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
