package atomicfile

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// Open is os.Open for a file that may be renamed, replaced and removed while it is
// open, as everywhere else: os.Open keeps others from that, this process included.
func Open(path string) (*os.File, error) { return open(path, windows.GENERIC_READ) }

// OpenOrCreate opens a file for reading and writing, and makes it if it is not there.
func OpenOrCreate(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return onlyRegular(f)
}

// OpenForUpdate opens a file that is there for reading and writing in this manner.
func OpenForUpdate(path string) (*os.File, error) {
	return open(path, windows.GENERIC_READ|windows.GENERIC_WRITE)
}

// OpenDir opens a directory. Anything else at the path is ENOTDIR.
func OpenDir(path string) (*os.File, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := d.Stat()
	if err == nil && !info.IsDir() {
		err = &os.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Read is os.ReadFile in this manner.
func Read(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// SyncFile flushes a file by its name, for which Windows wants it open for writing. One
// that is read-only cannot be opened so: it is a pack that a git made, which has flushed
// it before it took the permission away.
func SyncFile(path string) error {
	f, err := OpenForUpdate(path)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		if info, serr := os.Lstat(path); serr == nil && info.Mode().Perm()&0o200 == 0 {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

func open(path string, access uint32) (*os.File, error) {
	h, err := createFile(path, access, windows.FILE_ATTRIBUTE_NORMAL)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return onlyRegular(os.NewFile(uintptr(h), path))
}

// createFile opens an existing file or directory. Directories want the flag for backups.
func createFile(path string, access, flags uint32) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return windows.InvalidHandle, err
	}
	return windows.CreateFile(name, access, shareAll, nil, windows.OPEN_EXISTING, flags|windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
}
