package watch

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// mapFile maps a file for writing. Its descriptor is closed already, as a linker or a database
// may do it.
func mapFile(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	data, err := unix.Mmap(int(f.Fd()), 0, 3, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(t, err)
	must(t, f.Close())
	return data
}

// The end of a writable map tells of all that was written through it, whatever was captured since
// its beginning.
func TestMappedWrite(t *testing.T) {
	t.Parallel()
	root, w := watched(t)
	data := mapFile(t, filepath.Join(root, "a/x"))
	w.Changes() // a capture in between
	copy(data, "two")
	must(t, unix.Munmap(data))
	if got := text(w.Changes()); got != "a: x" {
		t.Errorf("got %q", got)
	}
}

// A file that was open for writing is looked at when it is closed.
func TestClosedAfterWriting(t *testing.T) {
	t.Parallel()
	root, w := watched(t)
	f, err := os.OpenFile(filepath.Join(root, "c/z"), os.O_WRONLY, 0)
	must(t, err)
	must(t, f.Close())
	if got := text(w.Changes()); got != "c: z" {
		t.Errorf("got %q", got)
	}
}
