package apply

import (
	"errors"
	"io/fs"
	"os"
)

const rootReadFlags = os.O_RDONLY

// samePerm compares the only bit that Windows keeps: whether a file is writable. Directories have
// none.
func samePerm(a, b uint16, dir bool) bool { return dir || a&0o200 == b&0o200 }

// chmodOpen uses the name, because a handle opened for reading may not change the attributes.
// os.Root does not follow links here.
func chmodOpen(r *os.Root, name string, _ *os.File, perm uint16) error {
	return r.Chmod(name, permMode(perm))
}

func chmodUnreadable(r *os.Root, name string, _ fs.FileInfo, perm uint16) error {
	return r.Chmod(name, permMode(perm))
}

// openToSync opens nothing: NTFS journals names.
func openToSync(*os.Root) (*os.File, error) { return nil, nil }

// renameOver renames a file over old, which is nil if there is none. Windows does not replace a file that
// is read-only, so that attribute goes first.
//
// Not guaranteed: a kill between the two leaves the old file writable, and a plan that is resumed takes it
// for changed.
func renameOver(r *os.Root, from, to string, old fs.FileInfo) error {
	err := r.Rename(from, to)
	if old == nil || old.Mode().Perm()&0o200 != 0 || !errors.Is(err, fs.ErrPermission) || r.Chmod(to, old.Mode()|0o200) != nil {
		return err
	}
	if err = r.Rename(from, to); err == nil {
		return nil
	}
	if cerr := r.Chmod(to, old.Mode()); cerr != nil {
		return errors.Join(err, cerr)
	}
	return err
}
