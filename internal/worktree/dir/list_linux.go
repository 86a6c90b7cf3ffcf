package dir

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// List reads all names of the directory, sorted by bytes, without "." and "..". It reads raw
// directory entries, because os.ReadDir allocates for every name, which takes as long as the
// system calls.
func (h *Handle) List(l *Listing, buf []byte) error {
	l.Reset()
	for {
		n, err := unix.Getdents(h.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			l.sort()
			return nil
		}
		parseDirents(l, buf[:n])
	}
}

// The offsets of struct linux_dirent64, see getdents(2).
const (
	direntLen  = 16
	direntType = 18
	direntName = 19
)

func parseDirents(l *Listing, buf []byte) {
	for len(buf) > direntName {
		size := int(binary.NativeEndian.Uint16(buf[direntLen:]))
		if size <= direntName || size > len(buf) {
			return
		}
		name := buf[direntName:size]
		if i := bytes.IndexByte(name, 0); i >= 0 {
			name = name[:i]
		}
		if s := string(name); s != "." && s != ".." && s != "" {
			l.add(name, direntKind(buf[direntType]))
		}
		buf = buf[size:]
	}
}

func direntKind(t byte) Kind {
	switch t {
	case unix.DT_DIR:
		return KindDir
	case unix.DT_REG, unix.DT_LNK:
		return KindFile
	}
	return KindUnknown
}

func fromStat(st *unix.Stat_t) Info {
	return Info{
		Mode: gitMode(uint32(st.Mode)),
		Perm: uint16(st.Mode & 0o7777),
		Stat: index.Stat{
			Size:  st.Size,
			MTime: st.Mtim.Nano(),
			CTime: st.Ctim.Nano(),
			Ino:   uint64(st.Ino),
		},
		Linked: st.Nlink > 1 && st.Mode&unix.S_IFMT == unix.S_IFREG,
	}
}
