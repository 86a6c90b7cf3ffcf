//go:build linux && (amd64 || arm64)

package gittest

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// CaseBlindDir returns an empty directory of a file system like those of macOS and
// Windows: a name keeps the spelling that it was made with, and is found by any other
// that differs only in case. As on macOS an é is also found in two characters, and the
// other way round. Where none can be mounted the test is skipped.
func CaseBlindDir(t testing.TB) string {
	t.Helper()
	kept, err := os.OpenFile(t.TempDir(), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	root := &caseBlind{at: kept, known: &knownObjects{at: make(map[fs.StableAttr]*os.File)}}
	t.Cleanup(func() {
		kept.Close()
		root.known.close()
	})
	return mount(t, root) // that nothing is remembered keeps spellings apart
}

// caseBlind is something in a directory of this system, under one of its spellings. To
// the kernel each spelling is another object, with the same number.
type caseBlind struct {
	fs.Inode
	at    *os.File // opened to tell where it is, not to be read
	known *knownObjects
}

// knownObjects holds open what was ever found: no number comes twice then, and nothing is
// forgotten that is just being found once more.
type knownObjects struct {
	mu    sync.Mutex
	at    map[fs.StableAttr]*os.File
	epoch int
}

// startAnew has everything be another object to the kernel from now on.
func (k *knownObjects) startAnew() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.epoch++
}

// id names something found in a directory under a name.
func (k *knownObjects) id(dir *caseBlind, name string, st *syscall.Stat_t) fs.StableAttr {
	k.mu.Lock()
	defer k.mu.Unlock()
	spelling := fnv.New64a()
	fmt.Fprintf(spelling, "%v/%s in %d", dir.StableAttr(), name, k.epoch)
	return fs.StableAttr{Mode: st.Mode & unix.S_IFMT, Ino: st.Ino, Gen: spelling.Sum64()}
}

// hold takes over an open object and returns the one that it is to be reached by.
func (k *knownObjects) hold(id fs.StableAttr, at *os.File) *os.File {
	k.mu.Lock()
	defer k.mu.Unlock()
	if before := k.at[id]; before != nil {
		at.Close()
		return before
	}
	k.at[id] = at
	return at
}

func (k *knownObjects) close() {
	for _, at := range k.at {
		at.Close()
	}
}

func (n *caseBlind) fd() int { return int(n.at.Fd()) }

// self is a path of the object that works for what takes no descriptor.
func (n *caseBlind) self() string { return fmt.Sprintf("/proc/self/fd/%d", n.fd()) }

// spelled returns the name that a directory has for a name.
func (n *caseBlind) spelled(name string) string {
	entries, _ := os.ReadDir(n.self())
	for _, e := range entries {
		if strings.EqualFold(composed(e.Name()), composed(name)) {
			return e.Name()
		}
	}
	return name
}

// composed stands for what Unicode calls the composed form of all letters.
func composed(name string) string { return strings.ReplaceAll(name, "e\u0301", "\u00e9") }

// found returns the object of a name, which may be spelled in any way.
func (n *caseBlind) found(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	fd, err := unix.Openat(n.fd(), n.spelled(name), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fs.ToErrno(err)
	}
	at := os.NewFile(uintptr(fd), name)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		at.Close()
		return nil, fs.ToErrno(err)
	}
	out.FromStat(&st)
	id := n.known.id(n, name, &st)
	return n.NewInode(ctx, &caseBlind{at: n.known.hold(id, at), known: n.known}, id), 0
}

// made is found for a name that was made just now, or not.
func (n *caseBlind) made(ctx context.Context, name string, out *fuse.EntryOut, err error) (*fs.Inode, syscall.Errno) {
	if err != nil {
		return nil, fs.ToErrno(err)
	}
	return n.found(ctx, name, out)
}

func (n *caseBlind) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.found(ctx, name, out)
}

func (n *caseBlind) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.made(ctx, name, out, unix.Mkdirat(n.fd(), n.spelled(name), mode))
}

func (n *caseBlind) Symlink(ctx context.Context, text, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.made(ctx, name, out, unix.Symlinkat(text, n.fd(), n.spelled(name)))
}

func (n *caseBlind) Link(ctx context.Context, other fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	err := unix.Linkat(unix.AT_FDCWD, other.(*caseBlind).self(), n.fd(), n.spelled(name), unix.AT_SYMLINK_FOLLOW)
	return n.made(ctx, name, out, err)
}

func (n *caseBlind) Create(
	ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut,
) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	fd, err := unix.Openat(n.fd(), n.spelled(name), int(flags)&^unix.O_APPEND|unix.O_CREAT|unix.O_CLOEXEC, mode)
	child, errno := n.made(ctx, name, out, err)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	return child, fs.NewLoopbackFile(fd), fuse.FOPEN_DIRECT_IO, 0
}

func (n *caseBlind) Unlink(_ context.Context, name string) syscall.Errno {
	return fs.ToErrno(unix.Unlinkat(n.fd(), n.spelled(name), 0))
}

func (n *caseBlind) Rmdir(_ context.Context, name string) syscall.Errno {
	return fs.ToErrno(unix.Unlinkat(n.fd(), n.spelled(name), unix.AT_REMOVEDIR))
}

// Rename gives what is renamed to itself its new spelling. Anything else that is there
// is replaced, and leaves its spelling behind: the worst that a system does. The kernel
// takes what had the new spelling for gone, so it must not come back.
func (n *caseBlind) Rename(_ context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to := parent.(*caseBlind)
	from, spelled := n.spelled(name), to.spelled(newName)
	if from == spelled && n.StableAttr().Ino == to.StableAttr().Ino {
		spelled = newName
		n.known.startAnew()
	}
	return fs.ToErrno(unix.Renameat2(n.fd(), from, to.fd(), spelled, uint(flags)))
}

func (n *caseBlind) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	entries, err := os.ReadDir(n.self())
	if err != nil {
		return nil, fs.ToErrno(err)
	}
	var list []fuse.DirEntry
	for _, e := range entries {
		var st unix.Stat_t
		if unix.Fstatat(n.fd(), e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			list = append(list, fuse.DirEntry{Name: e.Name(), Mode: st.Mode & unix.S_IFMT, Ino: st.Ino})
		}
	}
	return fs.NewListDirStream(list), 0
}

func (n *caseBlind) Readlink(context.Context) ([]byte, syscall.Errno) {
	text := make([]byte, unix.PathMax)
	size, err := unix.Readlinkat(n.fd(), "", text)
	return text[:max(size, 0)], fs.ToErrno(err)
}

func (n *caseBlind) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	fd, err := unix.Open(n.self(), int(flags)&^(unix.O_APPEND|unix.O_NOFOLLOW)|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, fs.ToErrno(err)
	}
	return fs.NewLoopbackFile(fd), fuse.FOPEN_DIRECT_IO, 0 // the kernel would cache the contents for each spelling
}

func (n *caseBlind) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	var st syscall.Stat_t
	if err := syscall.Fstat(n.fd(), &st); err != nil {
		return fs.ToErrno(err)
	}
	out.FromStat(&st)
	return 0
}

func (n *caseBlind) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	var err error
	if mode, ok := in.GetMode(); ok {
		err = unix.Chmod(n.self(), mode)
	}
	if size, ok := in.GetSize(); ok && err == nil {
		err = unix.Truncate(n.self(), int64(size))
	}
	if written, ok := in.GetMTime(); ok && err == nil {
		omitted := unix.Timespec{Nsec: unix.UTIME_OMIT}
		err = unix.UtimesNanoAt(unix.AT_FDCWD, n.self(), []unix.Timespec{omitted, unix.NsecToTimespec(written.UnixNano())}, 0)
	}
	if err != nil {
		return fs.ToErrno(err)
	}
	return n.Getattr(ctx, f, out)
}
