package worktree

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// list reads all names of the directory, sorted by bytes, without "." and "..".
// It reads raw directory entries: os.ReadDir allocates per name, which costs as
// much as the system calls do.
func (h *dirHandle) list(l *listing, buf []byte) error {
	l.reset()
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

func parseDirents(l *listing, buf []byte) {
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

func direntKind(t byte) kind {
	switch t {
	case unix.DT_DIR:
		return kindDir
	case unix.DT_REG, unix.DT_LNK:
		return kindFile
	}
	return kindUnknown
}

func fromStat(st *unix.Stat_t) fileStat {
	return fileStat{
		mode: gitMode(uint32(st.Mode)),
		perm: uint16(st.Mode & 0o7777),
		stat: index.Stat{
			Size:  st.Size,
			MTime: st.Mtim.Nano(),
			CTime: st.Ctim.Nano(),
			Ino:   uint64(st.Ino),
		},
	}
}
