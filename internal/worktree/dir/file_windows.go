package dir

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// File is a file that is open for reading.
type File struct{ *os.File }

// OpenFile opens a regular file for reading.
func (h *Handle) OpenFile(name string) (File, error) {
	info, err := h.root.Lstat(name)
	if err != nil {
		return File{}, err
	}
	if !info.Mode().IsRegular() {
		return File{}, syscall.ENOTDIR
	}
	f, err := h.root.Open(name)
	return File{f}, err
}

// Descriptor returns the file descriptor, -1 on systems that have none.
func (f File) Descriptor() int { return -1 }

// Stat returns the status of the open file.
func (f File) Stat() (Info, error) {
	st, _, err := statHandle(windows.Handle(f.Fd()))
	return st, err
}

// Owner knows no owners here.
func (f File) Owner() (uid, gid int, ok bool) { return 0, 0, false }
