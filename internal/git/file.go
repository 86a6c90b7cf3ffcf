package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// errNotRegular is the reason for not reading a directory, FIFO, socket or device.
var errNotRegular = errors.New("not a regular file")

// IsAbsent reports whether the error of a read means that there is no such file. A path that is not
// a regular file counts as none.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errNotRegular)
}

// openRegular opens path for reading if it is a regular file, or a symbolic link to one. It checks
// before it opens, because opening a FIFO waits for a writer and opening a device may do anything.
// It checks again after.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	if strings.IndexByte(path, 0) >= 0 { // would be cut off there
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EINVAL}
	}
	info, err := os.Stat(path)
	if err = mustBeRegular(path, info, err); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err = mustBeRegular(path, info, err); err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func mustBeRegular(path string, info fs.FileInfo, err error) error {
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	return err
}

// ReadFile returns the contents of a regular file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: larger than %d bytes", path, limit)
	}
	return data, err
}

// isDir reports whether path is a directory or a symbolic link to one.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// resolved returns path without symbolic links if it can be resolved, else
// lexically cleaned.
func resolved(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}
