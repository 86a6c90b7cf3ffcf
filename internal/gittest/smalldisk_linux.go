package gittest

import (
	"fmt"
	"os"
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

const appendFlag = 0x20 // FS_APPEND_FL

// AppendOnly makes a directory take additions alone until the test ends: no name in it can be replaced or
// removed. The test is skipped where that is not allowed.
func AppendOnly(t testing.TB, path string) {
	t.Helper()
	if err := setAppendOnly(path, true); err != nil {
		t.Skipf("no directory takes additions alone here: %v", err)
	}
	t.Cleanup(func() {
		if err := setAppendOnly(path, false); err != nil {
			t.Error(err)
		}
	})
}

func setAppendOnly(path string, on bool) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	flags, err := unix.IoctlGetUint32(int(d.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	if flags &^= appendFlag; on {
		flags |= appendFlag
	}
	return unix.IoctlSetPointerInt(int(d.Fd()), unix.FS_IOC_SETFLAGS, int(flags))
}
