package git

import (
	"os"

	"golang.org/x/sys/windows"
)

// fill adds what identifies the file on its volume. There is no change time.
func (s *Signature) fill(f *os.File) error {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return err
	}
	s.Dev = uint64(info.VolumeSerialNumber)
	s.Ino = uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)
	return nil
}
