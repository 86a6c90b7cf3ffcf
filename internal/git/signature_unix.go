//go:build unix

package git

import (
	"os"

	"golang.org/x/sys/unix"
)

// fill adds the fields that only the system's stat has.
func (s *Signature) fill(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	s.CTime = st.Ctim.Nano()
	s.Dev, s.Ino = uint64(st.Dev), uint64(st.Ino)
	return nil
}
