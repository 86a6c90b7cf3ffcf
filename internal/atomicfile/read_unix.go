//go:build !windows

package atomicfile

import (
	"os"
	"slices"
	"syscall"
)

// smallFile is what Read reads at a time.
const smallFile = 512

// Read is os.ReadFile for a regular file that is small and often read. An os.File can
// wait for pipes and be closed by other goroutines, and to make one ready for that takes
// longer than to read such a file. The file may still have any size.
func Read(path string) ([]byte, error) {
	var fd, n int
	err := retry(func() (err error) {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
		return err
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	if err := checkRegular(fd, path); err != nil {
		return nil, err
	}
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

// checkRegular is onlyRegular for a descriptor.
func checkRegular(fd int, path string) error {
	var st syscall.Stat_t
	err := retry(func() error { return syscall.Fstat(fd, &st) })
	switch {
	case err != nil:
		return &os.PathError{Op: "stat", Path: path, Err: err}
	case st.Mode&syscall.S_IFMT == syscall.S_IFDIR:
		return &os.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case st.Mode&syscall.S_IFMT != syscall.S_IFREG:
		return notRegular(path)
	}
	return nil
}
