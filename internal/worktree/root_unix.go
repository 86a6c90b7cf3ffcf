//go:build unix

package worktree

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// rootReadFlags never block on a FIFO and never make a terminal the controlling one.
const rootReadFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_NOFOLLOW

// lookOf reads the same fields from an fs.FileInfo as a scan does from the system.
func lookOf(fi fs.FileInfo) fileStat {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fileStat{}
	}
	return fileStat{
		mode: gitMode(uint32(st.Mode)),
		perm: uint16(st.Mode & 0o7777),
		stat: index.Stat{
			Size:  st.Size,
			MTime: fi.ModTime().UnixNano(),
			CTime: changeTime(st),
			Ino:   uint64(st.Ino),
		},
	}
}

// linked reports whether the file has more than one name.
func linked(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && !fi.IsDir() && st.Nlink > 1
}

// deviceOf is the number of the file system that a file lies on.
func deviceOf(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}

func samePerm(a, b uint16, _ bool) bool { return a == b }

func chmodOpen(_ *os.Root, _ string, f *os.File, perm uint16) error { return f.Chmod(permMode(perm)) }

// openToSync opens a directory so that it can be flushed.
func openToSync(r *os.Root) (*os.File, error) { return r.Open(".") }
