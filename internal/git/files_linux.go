package git

import (
	"io/fs"
	"syscall"
)

// identify returns the signature of a file without the trailer.
func identify(info fs.FileInfo) (s Signature, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return s, false
	}
	return Signature{Size: st.Size, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(), Dev: uint64(st.Dev), Ino: st.Ino}, true
}
