//go:build unix

package odb

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestV13_FlushPassesOverAFIFO: a FIFO in the place of a ref that the redo log names makes no
// flush wait for a writer.
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
	must(t, db.DropLog())
}
