//go:build unix

package git

import "golang.org/x/sys/unix"

// StampOf returns the stamp of a path itself, not of the target of a link. It returns the zero Stamp
// for a path that is absent or out of reach.
func StampOf(path string) Stamp {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return Stamp{}
	}
	return Stamp{Size: st.Size, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(), Ino: uint64(st.Ino), Mode: uint32(st.Mode)}
}
