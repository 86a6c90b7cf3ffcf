//go:build linux && (amd64 || arm64)

package gittest

import (
	"context"
	"os"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// LinklessDir returns an empty directory of a file system without hard links and symlinks, as exFAT
// is. Where none can be mounted the test is skipped.
func LinklessDir(t testing.TB) string {
	t.Helper()
	kept := t.TempDir()
	info, err := os.Stat(kept)
	if err != nil {
		t.Fatal(err)
	}
	data := &fs.LoopbackRoot{Path: kept, Dev: uint64(info.Sys().(*syscall.Stat_t).Dev)}
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
