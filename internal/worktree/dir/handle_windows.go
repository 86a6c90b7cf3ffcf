package dir

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Handle is an open directory. An os.Root resolves names beneath it; a second handle serves
// the calls that os.Root does not offer.
type Handle struct {
	root *os.Root
	dir  *os.File
}

// Descriptor returns the file descriptor, -1 on systems that have none.
func (h *Handle) Descriptor() int { return -1 }

// Open opens the directory path, which may be a symlink.
func Open(path string) (*Handle, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return newHandle(root)
}

func newHandle(root *os.Root) (*Handle, error) {
	dir, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &Handle{root, dir}, nil
}

// OpenDir opens the directory name in h. It refuses symlinks and junctions: the name must be
// a directory, and the opened handle must be that directory.
func (h *Handle) OpenDir(name string) (*Handle, error) {
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
	sub, err := newHandle(root)
	if err != nil {
		return nil, err
	}
	after, err := sub.dir.Stat()
	if err != nil || !os.SameFile(before, after) {
		sub.Close()
		return nil, errors.Join(err, syscall.ENOTDIR)
	}
	return sub, nil
}

// Close closes the handle.
func (h *Handle) Close() {
	h.dir.Close()
	h.root.Close()
}

// List reads all names of the directory, sorted by bytes, without "." and "..".
func (h *Handle) List(l *Listing, _ []byte) error {
	l.Reset()
	if _, err := h.dir.Seek(0, io.SeekStart); err != nil { // after an earlier List the offset is at the end
		return err
	}
	names, err := h.dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		l.add([]byte(name), KindUnknown)
	}
	l.sort()
	return nil
}

// Stat returns the status of the open directory.
func (h *Handle) Stat() (HandleInfo, error) {
	st, _, err := statHandle(windows.Handle(h.dir.Fd()))
	return HandleInfo{Perm: st.Perm, Stat: st.Stat}, err
}

// Lstat returns the status of a name of a Listing.
func (h *Handle) Lstat(name []byte) (Info, error) {
	st, reparse, err := lstatAt(windows.Handle(h.dir.Fd()), string(name))
	if err != nil || !reparse {
		return st, err
	}
	info, err := h.root.Lstat(string(name))
	if err == nil {
		st.Mode = fromInfo(info).Mode
	}
	return st, err
}

// LstatQuick is Lstat here.
func (h *Handle) LstatQuick(name []byte) (Info, error) { return h.Lstat(name) }

// Local reports false: the type of the file system is not looked up here.
func (h *Handle) Local() bool { return false }

// StampsNames reports false: it is unknown here whether every change of names shows.
func (h *Handle) StampsNames() bool { return false }

// Readlink returns the target of the symlink name, with slashes.
func (h *Handle) Readlink(name string) (string, error) {
	target, err := h.root.Readlink(name)
	return strings.ReplaceAll(target, `\`, "/"), err
}

// fromInfo converts the result of package os. That has neither a file number nor a change
// time, so the Stat never equals a scanned one and the contents must be compared.
func fromInfo(info fs.FileInfo) Info {
	st := Info{Stat: index.Stat{Size: info.Size(), MTime: info.ModTime().UnixNano()}}
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		st.Perm = permOf(data.FileAttributes)
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		st.Mode = object.Regular
	case mode.IsDir():
		st.Mode = object.Dir
	case mode&fs.ModeSymlink != 0:
		st.Mode = object.Symlink
	}
	return st
}

// Classify returns the Failure that err of an lstat, open or read means.
func Classify(err error) Failure {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Gone
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, windows.ERROR_DIRECTORY), errors.Is(err, windows.ERROR_CANT_ACCESS_FILE):
		return Replaced
	case errors.Is(err, fs.ErrPermission), errors.Is(err, windows.ERROR_SHARING_VIOLATION),
		errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_INVALID_NAME):
		return Unreadable
	}
	var errno syscall.Errno
	if errors.As(err, &errno) && slices.Contains(unreadable, errno) {
		return Unreadable
	}
	return Fatal
}

// Absent reports whether err of an lstat means that there is no such file, and can be none.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, windows.ERROR_DIRECTORY) ||
		errors.Is(err, windows.ERROR_INVALID_NAME) || errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE)
}

// unreadable are errors about one file: its contents are in a cloud only, a scanner of viruses keeps it
// from all programs, or the disk cannot read it.
var unreadable = []syscall.Errno{
	windows.ERROR_CLOUD_FILE_PROVIDER_NOT_RUNNING, windows.ERROR_CLOUD_FILE_NOT_IN_SYNC, windows.ERROR_CLOUD_FILE_INVALID_REQUEST,
	windows.ERROR_CLOUD_FILE_AUTHENTICATION_FAILED, windows.ERROR_CLOUD_FILE_NETWORK_UNAVAILABLE, windows.ERROR_CLOUD_FILE_UNSUCCESSFUL,
	windows.ERROR_CLOUD_FILE_IN_USE, windows.ERROR_CLOUD_FILE_REQUEST_ABORTED, windows.ERROR_CLOUD_FILE_ACCESS_DENIED,
	windows.ERROR_CLOUD_FILE_REQUEST_CANCELED, windows.ERROR_CLOUD_FILE_PROVIDER_TERMINATED, windows.ERROR_CLOUD_FILE_REQUEST_TIMEOUT,
	windows.ERROR_VIRUS_INFECTED, windows.ERROR_VIRUS_DELETED,
	windows.ERROR_CRC, windows.ERROR_IO_DEVICE, windows.ERROR_FILE_CORRUPT,
}
