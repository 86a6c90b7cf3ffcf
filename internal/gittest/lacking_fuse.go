//go:build linux && (amd64 || arm64)

package gittest

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// UndatedDir returns an empty directory of a file system whose directories have the same
// times for ever, whatever comes into them or goes. Those that unite several directories,
// and those of other machines, may be like that for a while. Where none can be mounted the
// test is skipped.
func UndatedDir(t testing.TB) string {
	t.Helper()
	data := loopback(t)
	data.RootNode = &undated{fs.LoopbackNode{RootData: data}}
	return mount(t, data.RootNode)
}

// undated is something in a directory of this system.
type undated struct{ fs.LoopbackNode }

// WrapChild makes an entry of a directory a part of this system, too.
func (n *undated) WrapChild(context.Context, fs.InodeEmbedder) fs.InodeEmbedder {
	return &undated{fs.LoopbackNode{RootData: n.RootData}}
}

// Getattr is all that tells times: what the kernel learns otherwise is out of date at once.
func (n *undated) Getattr(ctx context.Context, f fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	errno := n.LoopbackNode.Getattr(ctx, f, out)
	if n.IsDir() {
		always := time.Unix(1_600_000_000, 1)
		out.SetTimes(&always, &always, &always)
	}
	return errno
}

// LinklessDir returns an empty directory of a file system without hard links and symlinks, as exFAT
// is. Where none can be mounted the test is skipped.
func LinklessDir(t testing.TB) string {
	t.Helper()
	data := loopback(t)
	data.RootNode = &linkless{fs.LoopbackNode{RootData: data}}
	return mount(t, data.RootNode)
}

type linkless struct{ fs.LoopbackNode }

// WrapChild makes what is found in a directory a part of this system, too.
func (n *linkless) WrapChild(context.Context, fs.InodeEmbedder) fs.InodeEmbedder {
	return &linkless{fs.LoopbackNode{RootData: n.RootData}}
}

func (n *linkless) Link(context.Context, fs.InodeEmbedder, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

func (n *linkless) Symlink(context.Context, string, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

// loopback is the data of a file system that passes what it is asked to an empty directory.
func loopback(t testing.TB) *fs.LoopbackRoot {
	t.Helper()
	kept := t.TempDir()
	info, err := os.Stat(kept)
	if err != nil {
		t.Fatal(err)
	}
	return &fs.LoopbackRoot{Path: kept, Dev: uint64(info.Sys().(*syscall.Stat_t).Dev)}
}
