package apply

import (
	"errors"
	"io/fs"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// Another program may write a path between the last look at it and the rename or unlink. So what has the name is put
// aside first and looked at then: an exchange of two names, or a rename, takes whatever is there. If that is not what
// was expected, it gets its name back.
//
// Not guaranteed: what a program writes, after that second look, into a file that it opened before. Where no call
// exchanges two names, as on NFS and on Windows, a write to a replaced file after the first look is lost. A process that
// is killed between the two leaves the file under its temporary name, and the next one removes it: its contents are those
// that the plan expected, unless another program has written in the same instant.

// swapIn gives the temporary file its name. old is the file that had the name at the last look, nil if there was none.
func (w *worker) swapIn(r *os.Root, tmp, name string, c *Change, old, made fs.FileInfo) error {
	w.meanwhile(c.Path)
	if old == nil {
		return giveName(r, tmp, name)
	}
	if exchange(r, name, tmp) != nil { // in this order watchers see name go and then come
		return renameOver(r, tmp, name, old)
	}
	if !w.isStill(r, tmp, old, c) {
		return w.swapBack(r, tmp, name, made)
	}
	if err := r.Remove(tmp); err != nil {
		return errors.Join(err, exchange(r, name, tmp))
	}
	return nil
}

// swapBack gives what another program has written its name back. Where that program has replaced the new file
// meanwhile, its newest file keeps the name.
func (w *worker) swapBack(r *os.Root, tmp, name string, made fs.FileInfo) error {
	if err := exchange(r, name, tmp); err != nil {
		return errors.Join(dir.ErrChanged, err)
	}
	if fi, err := r.Lstat(tmp); err == nil && !os.SameFile(fi, made) {
		return errors.Join(dir.ErrChanged, exchange(r, name, tmp))
	}
	return dir.ErrChanged
}

// unlink removes a file that was as expected at the last look.
func (w *worker) unlink(r *os.Root, name string, i int, old fs.FileInfo) error {
	c, tmp := &w.changes[i], dir.TempName(w.Token, i)
	w.meanwhile(c.Path)
	if r.Rename(name, tmp) != nil { // no other program has names with this token
		return r.Remove(name)
	}
	err := dir.ErrChanged
	if w.isStill(r, tmp, old, c) {
		err = r.Remove(tmp)
	}
	if err == nil {
		return nil
	}
	if back := giveName(r, tmp, name); back != nil { // another program has made a newer one
		return removeTemp(r, w.stack.Here().Path, tmp, errors.Join(err, back))
	}
	return err
}

// giveName gives a file a name that no other one has.
func giveName(r *os.Root, from, to string) error {
	err := renameNew(r, from, to)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return dir.ErrChanged
	}
	return renameOver(r, from, to, nil)
}

// dropAside removes, when resuming, what a killed unlink has put aside.
func (w *worker) dropAside(r *os.Root, i int) {
	if w.Resume {
		_ = r.Remove(dir.TempName(w.Token, i)) // a scan passes over such names
	}
}

// isStill reports whether what was put aside is the file of the last look, or has the expected contents. Its change
// time is that of the rename.
func (w *worker) isStill(r *os.Root, tmp string, old fs.FileInfo, c *Change) bool {
	fi, err := r.Lstat(tmp)
	if err != nil {
		return false
	}
	was, now := dir.InfoOf(old), dir.InfoOf(fi)
	now.Stat.CTime = was.Stat.CTime
	same := now == was
	if same && match(c.Was, was, c) == matchYes || c.expectedID().IsZero() {
		return same
	}
	if match(c.Was, now, c) == matchNo {
		return false
	}
	same, err = w.hasContents(r, tmp, fi, c.expectedID())
	return same && err == nil
}

func (w *worker) meanwhile(path string) {
	if w.between != nil {
		w.between(path)
	}
}
