package dir

import (
	"os"

	"golang.org/x/sys/windows"
)

// BirthOf returns the birth of the directory at path. ok is false where there is none, and where
// the file system does not know when it was made.
func BirthOf(path string) (b Birth, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return Birth{}, false
	}
	defer f.Close()
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info) != nil ||
		info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY == 0 || info.CreationTime == (windows.Filetime{}) {
		return Birth{}, false
	}
	return Birth{uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow), info.CreationTime.Nanoseconds()}, true
}
