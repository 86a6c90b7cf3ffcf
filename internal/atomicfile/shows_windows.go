package atomicfile

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// ShowsChanges reports whether the file system of a directory is known to show at once, in
// the directory's times, every change of its names. Those of other machines do not.
func ShowsChanges(dir string) bool {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	return err == nil && windows.GetDriveType(root) == windows.DRIVE_FIXED
}
