//go:build unix

package apply

import (
	"errors"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// newFile is a file that is being made in a directory of a Builder. It is no os.File, which takes
// more system calls than a small file needs.
type newFile struct {
	fd   int
	in   *dir.Handle
	name string
	perm uint16 // as it was made
}

// createFile makes a file that other users can never access beyond the wanted bits.
func createFile(in *dir.Handle, _, name string, perm, mask uint16) (*newFile, error) {
	bits := perm&0o777 | 0o600
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	for {
		fd, err := unix.Openat(in.Descriptor(), name, flags, uint32(bits))
		if err == nil {
			return &newFile{fd, in, name, bits &^ mask}, nil
		}
		if err != unix.EINTR {
			return nil, err
		}
	}
}

// Write implements io.Writer.
func (f *newFile) Write(p []byte) (done int, err error) {
	for done < len(p) {
		n, err := unix.Write(f.fd, p[done:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return done, err
		case n == 0:
			return done, io.ErrShortWrite
		}
		done += max(n, 0)
	}
	return done, nil
}

// finish sets the owner, unless to is nil, the bits and, unless mtime is 0, the time of modification. The bits
// come after the owner, which clears some.
func (f *newFile) finish(perm uint16, to *owner, mtime int64, sync bool) (dir.Info, error) {
	if to != nil && unix.Fchown(f.fd, to.uid, to.gid) != nil {
		perm &^= setIDs
	}
	if f.perm != perm {
		if err := unix.Fchmod(f.fd, uint32(perm)); err != nil {
			return dir.Info{}, err
		}
	}
	if mtime != 0 {
		if err := setTime(f.in, "", f.name, mtime); err != nil {
			return dir.Info{}, err
		}
	}
	info, err := f.in.Lstat(dir.ListedName(f.name))
	if err == nil && info.Perm != perm { // a default access list has its own idea of the mode
		if err = unix.Fchmod(f.fd, uint32(perm)); err == nil {
			info, err = f.in.Lstat(dir.ListedName(f.name))
		}
	}
	if err == nil && sync {
		err = syncFile(f.fd)
	}
	if cerr := f.close(); err == nil { // some file systems report a full disk only here
		err = cerr
	}
	return info, err
}

// close may be called again.
func (f *newFile) close() error {
	if f.fd < 0 {
		return nil
	}
	err := unix.Close(f.fd)
	f.fd = -1
	return err
}

// discard removes the file.
func (f *newFile) discard() error {
	f.close()
	return unix.Unlinkat(f.in.Descriptor(), f.name, 0)
}

func createLink(in *dir.Handle, _, name, text string, to *owner, mtime int64) (dir.Info, error) {
	if err := unix.Symlinkat(text, in.Descriptor(), name); err != nil {
		return dir.Info{}, err
	}
	if to != nil {
		_ = chownLinkAt(in.Descriptor(), name, *to) // a link of the superuser's serves as well
	}
	if mtime != 0 {
		if err := setTime(in, "", name, mtime); err != nil && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EOPNOTSUPP) {
			return dir.Info{}, err
		}
	}
	return in.Lstat(dir.ListedName(name))
}

// giveOpen gives an open directory to another user.
func giveOpen(h *dir.Handle, to owner) { _ = unix.Fchown(h.Descriptor(), to.uid, to.gid) }

func createDir(in *dir.Handle, _, name string, perm uint16) error {
	return unix.Mkdirat(in.Descriptor(), name, uint32(perm&0o777))
}

// setTime sets the time of modification of a file, directory or link.
func setTime(in *dir.Handle, _, name string, mtime int64) error {
	times := []unix.Timespec{unix.NsecToTimespec(time.Now().UnixNano()), unix.NsecToTimespec(mtime)}
	return unix.UtimesNanoAt(in.Descriptor(), name, times, unix.AT_SYMLINK_NOFOLLOW)
}

// setPerm sets the bits of a directory. It must not be a link, which would be followed.
func setPerm(in *dir.Handle, _, name string, perm uint16) error {
	return unix.Fchmodat(in.Descriptor(), name, uint32(perm), 0)
}

// ofName reports whether an error of making a path is about its name: the name is taken in another
// spelling, or the file system cannot hold it.
func ofName(err error) bool {
	return errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENAMETOOLONG) || errors.Is(err, unix.EILSEQ) || errors.Is(err, unix.EINVAL)
}

// noLinks reports whether an error of making a symlink says that the file system has none.
func noLinks(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS)
}
