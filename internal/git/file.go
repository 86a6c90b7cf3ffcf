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

// openRegular opens path for reading if it is a regular file, or a symbolic link
// to one. It looks before it opens, because opening a FIFO waits for a writer and
// opening a device may do anything, and looks again at what it opened.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	if strings.IndexByte(path, 0) >= 0 { // would be cut off there
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EINVAL}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// readLimited returns the contents of a regular file of at most limit bytes.
func readLimited(path string, limit int64) ([]byte, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, limit)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit { // it grew
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

// within reports whether path is dir or lies below it. Both are absolute.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
