//go:build !windows

package atomicfile

import (
	"os"
	"slices"
	"syscall"
)

// smallFile is what Read reads at a time.
const smallFile = 512

// Read is os.ReadFile for a file that is there, small and often read: an os.File can
// wait for pipes and be closed by others, and to make one ready for that takes longer
// than to read such a file. What stands there may still be as large as it likes.
func Read(path string) ([]byte, error) {
	var fd, n int
	err := retry(func() (err error) { fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0); return err })
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	data := make([]byte, 0, smallFile)
	for {
		err := retry(func() (err error) { n, err = syscall.Read(fd, data[len(data):cap(data)]); return err })
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		if data = data[:len(data)+n]; n == 0 {
			return data, nil
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
	}
}
