package apply

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// newFile is a file that is being made in a directory of a Builder.
type newFile struct {
	*os.File
	in   *dir.Handle
	name string
}

func createFile(in *dir.Handle, place, name string, _, _ uint16) (*newFile, error) {
	f, err := os.OpenFile(filepath.Join(place, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return &newFile{f, in, name}, nil
}

// finish sets the bits and, unless mtime is 0, the time of modification. The bits come last: a file
// that may not be written to keeps its time.
func (f *newFile) finish(perm uint16, _ *owner, mtime int64, sync bool) (dir.Info, error) {
	var err error
	if sync {
		err = f.Sync()
	}
	if cerr := f.close(); err == nil {
		err = cerr
	}
	if err == nil && mtime != 0 {
		err = os.Chtimes(f.Name(), time.Now(), time.Unix(0, mtime))
	}
	if err == nil && perm&0o200 == 0 {
		err = os.Chmod(f.Name(), permMode(perm))
	}
	if err != nil {
		return dir.Info{}, err
	}
	return f.in.Lstat(dir.ListedName(f.name))
}

// close may be called again.
func (f *newFile) close() error {
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// discard removes the file.
func (f *newFile) discard() error {
	f.close()
	return os.Remove(f.Name())
}

func createLink(in *dir.Handle, place, name, text string, _ *owner, _ int64) (dir.Info, error) {
	if err := os.Symlink(text, filepath.Join(place, name)); err != nil {
		return dir.Info{}, err
	}
	return in.Lstat(dir.ListedName(name))
}

func giveOpen(*dir.Handle, owner) {}

func createDir(_ *dir.Handle, place, name string, _ uint16) error {
	return os.Mkdir(filepath.Join(place, name), 0o777)
}

func setTime(_ *dir.Handle, place, name string, mtime int64) error {
	return os.Chtimes(filepath.Join(place, name), time.Now(), time.Unix(0, mtime))
}

func setPerm(*dir.Handle, string, string, uint16) error { return nil }

// ofName reports whether an error of making a path is about its name: the name is taken in another
// spelling, or the file system cannot hold it.
func ofName(err error) bool {
	return errors.Is(err, fs.ErrExist) || errors.Is(err, windows.ERROR_INVALID_NAME) || errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE)
}

// noLinks reports whether an error of making a symlink says that this user may make none, or that the file
// system has none.
func noLinks(err error) bool {
	return errors.Is(err, windows.ERROR_PRIVILEGE_NOT_HELD) || errors.Is(err, windows.ERROR_INVALID_FUNCTION) || errors.Is(err, windows.ERROR_NOT_SUPPORTED)
}
