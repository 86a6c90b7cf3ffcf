package apply

import (
	"io"
	"io/fs"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// The superuser gives the files that it makes to other users, because a checkpoint records no owners.
// A file takes the owner and the group of the file that it replaces. Another new path takes those of its
// directory. The files of other processes are their own.

// setIDs are the bits with which a program runs as its owner or group.
const setIDs = 0o6000

// owner is the user and the group of a file.
type owner struct{ uid, gid int }

// superuser is false on Windows.
var superuser = os.Geteuid() == 0

// rootOwner is the owner of a file that the superuser makes.
func rootOwner() *owner { return &owner{os.Geteuid(), os.Getegid()} }

// ownerOf returns nil if the owner of a file is unknown.
func ownerOf(fi fs.FileInfo) *owner {
	uid, gid, ok := dir.OwnerOf(fi)
	if !ok {
		return nil
	}
	return &owner{uid, gid}
}

// ownerFor returns the owner that a path is to get, nil if it is that of the process.
func (w *worker) ownerFor(r *os.Root, name string) *owner {
	if !superuser {
		return nil
	}
	fi, err := r.Lstat(name)
	if err != nil {
		fi, err = r.Stat(".")
	}
	if err != nil {
		return nil
	}
	return ownerOf(fi)
}

// take gives a new file to o. It returns the owner that the file has then, nil if that is not o: a file
// system may refuse the change.
func (o *owner) take(f *os.File, fi fs.FileInfo) *owner {
	if o == nil {
		return nil
	}
	if has := ownerOf(fi); has != nil && *has == *o {
		return o
	}
	if f.Chown(o.uid, o.gid) != nil {
		return nil
	}
	return o
}

// bitsAs returns the permission bits that a file of an owner gets. Setuid and setgid bits are a right to
// act for the owner, and the checkpoint does not tell whose file had them. The superuser grants them where
// that owner and itself alone can put a file at the path.
func (w *worker) bitsAs(o *owner, perm uint16) uint16 {
	if superuser && perm&setIDs != 0 && (o == nil || !w.wayIsOf(o)) {
		return perm &^ setIDs
	}
	return perm
}

// wayIsOf reports whether only a user and the superuser may write to the directories above a path.
func (w *worker) wayIsOf(o *owner) bool {
	top, err := w.top.Stat(".")
	if err != nil {
		return false
	}
	for _, fi := range append(w.stack.Way(), top) {
		if fi.Mode().Perm()&0o022 != 0 {
			return false
		}
		if of := ownerOf(fi); of == nil || of.uid != o.uid && of.uid != 0 {
			return false
		}
	}
	return true
}

// bitsOnChmod returns the bits that a Chmod sets. A file keeps the setuid and setgid bits that it has.
func (w *worker) bitsOnChmod(c *Change, fi fs.FileInfo) uint16 {
	if fi.IsDir() {
		return c.Perm
	}
	return w.bitsAs(ownerOf(fi), c.Perm) | c.Perm&dir.InfoOf(fi).Perm&setIDs
}

// giveFolder gives a new directory, the one of fi, to the owner of the directory that it lies in. It
// reports whether it has changed the owner. A directory that is not empty has taken the place of the new
// one, and stays the superuser's.
func (w *worker) giveFolder(r *os.Root, name string, fi fs.FileInfo) bool {
	if !superuser {
		return false
	}
	above, err := r.Stat(".")
	if err != nil {
		return false
	}
	to, has := ownerOf(above), ownerOf(fi)
	if to == nil || has == nil || *to == *has {
		return false
	}
	f, err := openSame(r, name, fi)
	if err != nil {
		return false
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); err != io.EOF {
		return false
	}
	return f.Chown(to.uid, to.gid) == nil
}
