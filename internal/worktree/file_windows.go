package worktree

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// file is a file that is open for reading.
type file struct{ *os.File }

func (h *dirHandle) openFile(name string) (file, error) {
	info, err := h.root.Lstat(name)
	if err != nil {
		return file{}, err
	}
	if !info.Mode().IsRegular() {
		return file{}, syscall.ENOTDIR
	}
	f, err := h.root.Open(name)
	return file{f}, err
}

func (f file) stat() (fileStat, error) {
	st, _, err := statHandle(windows.Handle(f.Fd()))
	return st, err
}
