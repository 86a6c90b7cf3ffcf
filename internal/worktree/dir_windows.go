package worktree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// dirHandle is an open directory, held through os.Root, which resolves names beneath the
// handle, and once more for what os.Root does not tell.
type dirHandle struct {
	root *os.Root
	dir  *os.File
}

func (h *dirHandle) descriptor() int { return -1 }

func openRoot(path string) (*dirHandle, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return newDirHandle(root)
}

func newDirHandle(root *os.Root) (*dirHandle, error) {
	dir, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &dirHandle{root, dir}, nil
}

// openDir refuses symlinks and junctions: the entry must be a directory and the
// opened handle the same one.
func (h *dirHandle) openDir(name string) (*dirHandle, error) {
	before, err := h.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, syscall.ENOTDIR
	}
	root, err := h.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	sub, err := newDirHandle(root)
	if err != nil {
		return nil, err
	}
	after, err := sub.dir.Stat()
	if err != nil || !os.SameFile(before, after) {
		sub.close()
		return nil, errors.Join(err, syscall.ENOTDIR)
	}
	return sub, nil
}

func (h *dirHandle) close() {
	h.dir.Close()
	h.root.Close()
}

func (h *dirHandle) list(l *listing, _ []byte) error {
	l.reset()
	if _, err := h.dir.Seek(0, io.SeekStart); err != nil { // it may have been listed before
		return err
	}
	names, err := h.dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		l.add([]byte(name), kindUnknown)
	}
	l.sort()
	return nil
}

func (h *dirHandle) stat() (dirStat, error) {
	st, _, err := statHandle(windows.Handle(h.dir.Fd()))
	return dirStat{perm: st.perm, stat: st.stat}, err
}

func (h *dirHandle) lstat(name []byte) (fileStat, error) {
	st, reparse, err := lstatAt(windows.Handle(h.dir.Fd()), string(name))
	if err != nil || !reparse {
		return st, err
	}
	info, err := h.root.Lstat(string(name))
	if err == nil {
		st.mode = fromInfo(info).mode
	}
	return st, err
}

func (h *dirHandle) lstatQuick(name []byte) (fileStat, error) { return h.lstat(name) }

func (h *dirHandle) local() bool { return false }

func (h *dirHandle) stampsNames() bool { return false }

func (h *dirHandle) readlink(name string) (string, error) {
	target, err := h.root.Readlink(name)
	return strings.ReplaceAll(target, `\`, "/"), err
}

// fromInfo makes do with what package os tells: the stat has neither number nor time of
// the last change, so that it is not that of a scan, and contents have to be compared.
func fromInfo(info fs.FileInfo) fileStat {
	st := fileStat{stat: index.Stat{Size: info.Size(), MTime: info.ModTime().UnixNano()}}
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		st.perm = permOf(data.FileAttributes)
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		st.mode = object.Regular
	case mode.IsDir():
		st.mode = object.Dir
	case mode&fs.ModeSymlink != 0:
		st.mode = object.Symlink
	}
	return st
}

func errKind(err error) failure {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failGone
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, windows.ERROR_DIRECTORY), errors.Is(err, windows.ERROR_CANT_ACCESS_FILE):
		return failReplaced
	case errors.Is(err, fs.ErrPermission), errors.Is(err, windows.ERROR_SHARING_VIOLATION),
		errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_INVALID_NAME):
		return failUnreadable
	}
	return failFatal
}
