//go:build unix && !linux

package worktree

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// list reads all names of the directory, sorted by bytes, without "." and "..".
// It reads through a second descriptor, because os.File would close this one.
func (h *dirHandle) list(l *listing, _ []byte) error {
	l.reset()
	fd, err := retryOpen(h.fd, ".", openDirFlags)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return errors.Unwrap(err)
	}
	for _, name := range names {
		l.add([]byte(name), kindUnknown)
	}
	l.sort()
	return nil
}

func fromStat(st *unix.Stat_t) fileStat {
	return fileStat{
		mode: gitMode(uint32(st.Mode)),
		perm: uint16(st.Mode & 0o7777),
		stat: index.Stat{
			Size:  int64(st.Size),
			MTime: st.Mtim.Nano(),
			CTime: st.Ctim.Nano(),
			Ino:   uint64(st.Ino),
		},
	}
}
