package gittest

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// SmallDisk mounts a file system of that many bytes for the length of the test and
// returns its directory. Where mounting is not allowed the test is skipped.
func SmallDisk(t testing.TB, bytes int) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("cairn-test", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}
