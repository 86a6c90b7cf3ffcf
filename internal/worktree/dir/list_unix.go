//go:build unix && !linux

package dir

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// List reads all names of the directory, sorted by bytes, without "." and "..". It reads
// through a second descriptor, because an os.File would close the first one.
func (h *Handle) List(l *Listing, _ []byte) error {
	l.Reset()
	fd, err := retryOpen(h.fd, ".", openFlags)
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
		l.add([]byte(name), KindUnknown)
	}
	l.sort()
	return nil
}

func fromStat(st *unix.Stat_t) Info {
	return Info{
		Mode: gitMode(uint32(st.Mode)),
		Perm: uint16(st.Mode & 0o7777),
		Stat: index.Stat{
			Size:  int64(st.Size),
			MTime: st.Mtim.Nano(),
			CTime: st.Ctim.Nano(),
			Ino:   uint64(st.Ino),
		},
		Linked: st.Nlink > 1 && st.Mode&unix.S_IFMT == unix.S_IFREG,
	}
}
