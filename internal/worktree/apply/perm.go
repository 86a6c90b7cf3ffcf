package apply

import (
	"errors"
	"io/fs"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// permMode returns perm in the form of package os.
func permMode(perm uint16) fs.FileMode {
	mode := fs.FileMode(perm & 0o777)
	for bit, flag := range map[uint16]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if perm&bit != 0 {
			mode |= flag
		}
	}
	return mode
}

// chmodSame sets the permission bits of a file or directory, which must still be the one of fi. It
// uses a handle, because a path-based chmod would follow a symlink that replaces name in the
// meantime.
func chmodSame(r *os.Root, name string, fi fs.FileInfo, perm uint16) error {
	f, err := openSame(r, name, fi)
	if errors.Is(err, fs.ErrPermission) {
		return chmodUnreadable(r, name, fi, perm)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return chmodOpen(r, name, f, perm)
}

// openSame opens name for reading. The name must still refer to the file of fi.
func openSame(r *os.Root, name string, fi fs.FileInfo) (*os.File, error) {
	f, err := r.OpenFile(name, rootReadFlags, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(fi, now) {
		err = dir.ErrChanged
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// makeFolder makes a directory with these bits and those that its owner needs to work in it.
func (w *worker) makeFolder(r *os.Root, name string, perm uint16) (fs.FileInfo, error) {
	perm |= 0o700
	if err := r.Mkdir(name, fs.FileMode(perm&0o777)); err != nil {
		return nil, err
	}
	fi, err := r.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, dir.ErrChanged
	}
	if w.giveFolder(r, name, fi) {
		if fi, err = r.Lstat(name); err != nil {
			return nil, err
		}
	}
	if samePerm(dir.InfoOf(fi).Perm, perm, true) {
		return fi, nil
	}
	if err := chmodSame(r, name, fi, perm); err != nil {
		return nil, err
	}
	return r.Lstat(name)
}
