//go:build unix

package git

import (
	"os"

	"golang.org/x/sys/unix"
)

// fill adds what only the system's own stat tells.
func (s *Signature) fill(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	s.CTime = st.Ctim.Nano()
	s.Dev, s.Ino = uint64(st.Dev), uint64(st.Ino)
	return nil
}
