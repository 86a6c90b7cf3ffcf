package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// ErrNotRegular says that something else than a regular file stands at a path. A directory
// is syscall.EISDIR instead.
var ErrNotRegular = errors.New("not a regular file")

func notRegular(path string) error { return &os.PathError{Op: "open", Path: path, Err: ErrNotRegular} }

// onlyRegular closes a file that is not regular. The open file is asked, so that nothing else
// can take its place in between.
func onlyRegular(f *os.File) (*os.File, error) {
	info, err := f.Stat()
	switch {
	case err == nil && info.Mode().IsRegular():
		return f, nil
	case err == nil && info.IsDir():
		err = &os.PathError{Op: "open", Path: f.Name(), Err: syscall.EISDIR}
	case err == nil:
		err = notRegular(f.Name())
	}
	return nil, errors.Join(err, f.Close())
}
