package atomicfile

import (
	"errors"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// renamePatience is how long Rename tries, and renamePause the longest it waits in
// between.
const (
	renamePatience = 500 * time.Millisecond
	renamePause    = 10 * time.Millisecond
)

// Rename is os.Rename that also replaces a file that is read-only, and one that others have open, if
// they share it (see Open). Where they do not, or the file system cannot do that, it is repeated for
// half a second: readers of small files are done in no time.
func Rename(from, to string) error {
	end := time.Now().Add(renamePatience)
	for pause := time.Millisecond; ; pause = min(2*pause, renamePause) {
		err := renameOpen(from, to)
		if err != nil {
			err = os.Rename(from, to)
		}
		if !InUse(err) || time.Now().After(end) {
			return err
		}
		time.Sleep(pause)
	}
}

// renameInfo is FILE_RENAME_INFO with room for the longest path.
type renameInfo struct {
	flags   uint32
	root    windows.Handle
	length  uint32 // of the name in bytes, without its end
	newName [windows.MAX_LONG_PATH]uint16
}

// renameOpen renames a file with POSIX semantics: a process that has the old file open keeps it. An
// old file that is read-only is replaced, too. NTFS supports both since Windows 10 1809; the error of
// another file system says nothing.
func renameOpen(from, to string) error {
	name, err := windows.UTF16FromString(to)
	info := renameInfo{flags: windows.FILE_RENAME_REPLACE_IF_EXISTS | windows.FILE_RENAME_POSIX_SEMANTICS | windows.FILE_RENAME_IGNORE_READONLY_ATTRIBUTE}
	if err != nil || copy(info.newName[:], name) < len(name) {
		return errors.Join(err, windows.ERROR_FILENAME_EXCED_RANGE)
	}
	info.length = uint32(len(name)-1) * 2
	h, err := createFile(from, windows.DELETE|windows.SYNCHRONIZE, windows.FILE_FLAG_OPEN_REPARSE_POINT)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	var what windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &what); err != nil {
		return err
	}
	if what.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0 {
		return windows.ERROR_NOT_SUPPORTED // it must not take the place of anything
	}
	return windows.SetFileInformationByHandle(h, windows.FileRenameInfoEx, (*byte)(unsafe.Pointer(&info)),
		uint32(unsafe.Offsetof(info.newName))+info.length+2)
}
