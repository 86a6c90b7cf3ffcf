//go:build linux && (amd64 || arm64)

package gittest

import (
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// mount mounts a file system of the test's own until the test ends. The kernel remembers
// nothing of it: all timeouts are zero. Where none can be mounted the test is skipped.
func mount(t testing.TB, root fs.InodeEmbedder) (dir string) {
	t.Helper()
	dir = t.TempDir()
	server, err := fs.Mount(dir, root, &fs.Options{
		MountOptions: fuse.MountOptions{FsName: "cairn-test", DirectMount: true}, NullPermissions: true,
	})
	if err != nil {
		t.Skipf("no file system of the test's own can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
			_ = unix.Unmount(dir, unix.MNT_DETACH)
		}
	})
	return dir
}
