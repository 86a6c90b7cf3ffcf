package worktree

import (
	"os"
	"syscall"
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
	info, err := f.Stat()
	if err != nil {
		return fileStat{}, err
	}
	return fromInfo(info), nil
}
