package odb

import (
	"os"

	"golang.org/x/sys/windows"
)

// links returns how many names a file has, 0 if that is unknown.
func links(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return 0
	}
	return int(info.NumberOfLinks)
}
