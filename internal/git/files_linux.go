package git

import (
	"io/fs"
	"syscall"
)

func identify(info fs.FileInfo) (id identity, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return id, false
	}
	return identity{st.Size, st.Mtim.Nano(), st.Ctim.Nano(), uint64(st.Dev), st.Ino}, true
}
