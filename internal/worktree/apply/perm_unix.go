//go:build unix

package apply

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// rootReadFlags never block on a FIFO and never make a terminal the controlling one.
const rootReadFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_NOFOLLOW

func samePerm(a, b uint16, _ bool) bool { return a == b }

func chmodOpen(_ *os.Root, _ string, f *os.File, perm uint16) error { return f.Chmod(permMode(perm)) }

// openToSync opens a directory to flush it.
func openToSync(r *os.Root) (*os.File, error) { return r.Open(".") }

// renameOver renames a file over another, or to a new name.
func renameOver(r *os.Root, from, to string, _ fs.FileInfo) error { return r.Rename(from, to) }

// withHandle calls do with the descriptor of a directory.
func withHandle(r *os.Root, do func(fd int) error) error {
	dir, err := r.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	conn, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	var opErr error
	err = conn.Control(func(fd uintptr) { opErr = do(int(fd)) })
	return errors.Join(err, opErr)
}
