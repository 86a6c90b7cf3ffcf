package worktree

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// dirHandle is an open directory, held through os.Root: Windows has no calls that
// take a directory descriptor, and os.Root resolves names beneath the handle.
type dirHandle struct{ root *os.Root }

func (h *dirHandle) descriptor() int { return -1 }

func openRoot(path string) (*dirHandle, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &dirHandle{root}, nil
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
	sub, err := h.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := sub.Stat(".")
	if err != nil || !os.SameFile(before, after) {
		sub.Close()
		return nil, errors.Join(err, syscall.ENOTDIR)
	}
	return &dirHandle{sub}, nil
}

func (h *dirHandle) close() { h.root.Close() }

func (h *dirHandle) list(l *listing, _ []byte) error {
	l.reset()
	f, err := h.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
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
	info, err := h.root.Stat(".")
	if err != nil {
		return dirStat{}, err
	}
	st := fromInfo(info)
	return dirStat{perm: st.perm, stat: st.stat}, nil
}

func (h *dirHandle) lstat(name []byte) (fileStat, error) {
	info, err := h.root.Lstat(string(name))
	if err != nil {
		return fileStat{}, err
	}
	return fromInfo(info), nil
}

func (h *dirHandle) lstatQuick(name []byte) (fileStat, error) { return h.lstat(name) }

func (h *dirHandle) local() bool { return false }

func (h *dirHandle) stampsNames() bool { return false }

func (h *dirHandle) readlink(name string) (string, error) {
	target, err := h.root.Readlink(name)
	return strings.ReplaceAll(target, `\`, "/"), err
}

// fromInfo has neither inode nor change time to offer, so on Windows a stat is
// size, write time and creation time.
func fromInfo(info fs.FileInfo) fileStat {
	st := fileStat{
		perm: uint16(info.Mode().Perm()),
		stat: index.Stat{Size: info.Size(), MTime: info.ModTime().UnixNano()},
	}
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		st.stat.CTime = data.CreationTime.Nanoseconds()
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		st.mode = object.Regular // Windows has no exec bit
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
