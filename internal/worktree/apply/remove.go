package apply

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// remove deletes a file or symlink.
func (w *worker) remove(r *os.Root, name string, i int) error {
	c := &w.changes[i]
	fi, done, err := w.guard(r, name, c)
	defer done()
	if errors.Is(err, dir.ErrChanged) && w.replacedBefore(c) {
		return nil
	}
	if err != nil || fi == nil {
		w.dropAside(r, i)
		return err
	}
	if err := w.unlink(r, name, i, fi); err != nil {
		return err
	}
	w.renamed(w.stack.Here(), r)
	w.outcomes[i].Linked = isLinked(fi)
	return nil
}

// rmdir removes a directory, which must be empty.
func (w *worker) rmdir(r *os.Root, name string, i int) error {
	c := &w.changes[i]
	fi, err := r.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !fi.IsDir() || c.Was != nil && match(c.Was, dir.InfoOf(fi), c) == matchNo {
		if w.replacedBefore(c) {
			return nil
		}
		return dir.ErrChanged
	}
	err = r.Remove(name)
	if errors.Is(err, fs.ErrExist) {
		err = w.respell(r, name, fi, c)
	}
	if err != nil {
		return err
	}
	w.renamed(w.stack.Here(), r)
	w.forget(c.Path)
	return nil
}

// respell renames a directory that is not empty to the directory that replaces it, if the two are
// the same in another spelling.
func (w *worker) respell(r *os.Root, name string, fi fs.FileInfo, c *Change) error {
	_, as := splitPath(c.As)
	isLeaf := func(other Change) bool { return other.Path == c.As && other.Action.Makes() && other.Action != Mkdir }
	if c.As == "" || as == name || slices.ContainsFunc(w.changes, isLeaf) {
		return ErrNotEmpty
	}
	if same, err := r.Lstat(as); err != nil || !os.SameFile(same, fi) {
		return ErrNotEmpty
	}
	if err := r.Rename(name, as); err != nil {
		return err
	}
	here, err := r.Open(".")
	if err != nil {
		return err
	}
	defer here.Close()
	names, err := here.Readdirnames(-1)
	if err == nil && !slices.Contains(names, as) {
		err = ErrSpelling
	}
	return err
}

// mkdir makes a directory. If its owner could not work in it with the wanted bits, they are set at
// the end, with the loosened directories.
func (w *worker) mkdir(r *os.Root, name string, i int) error {
	c := &w.changes[i]
	fi, err := w.makeFolder(r, name, c.Perm)
	if err == nil {
		w.renamed(w.stack.Here(), r)
	}
	if errors.Is(err, fs.ErrExist) {
		fi, err = w.adopt(r, name, c)
	}
	if err != nil {
		return err
	}
	if !samePerm(c.Perm|0o700, c.Perm, true) {
		w.mu.Lock()
		w.loose[c.Path] = looseFolder{fi, c.Perm}
		w.mu.Unlock()
	}
	w.record(i, name, fi)
	w.outcomes[i].Entry.Perm = c.Perm
	return nil
}

// adopt accepts an existing directory: the wanted one, the expected one or, when resuming, any,
// because making one takes two steps.
func (w *worker) adopt(r *os.Root, name string, c *Change) (fs.FileInfo, error) {
	fi, err := r.Lstat(name)
	if err != nil {
		return nil, err
	}
	now := dir.InfoOf(fi)
	ours := c.Was != nil && match(c.Was, now, c) == matchYes && samePerm(now.Perm, c.Was.Perm, true)
	if now.Mode != object.Dir || !w.Resume && !ours && !samePerm(now.Perm, c.Perm, true) {
		return nil, dir.ErrChanged
	}
	if samePerm(now.Perm, c.Perm|0o700, true) {
		return fi, nil
	}
	w.touchAlone(parentPath(c.Path))
	if err := chmodSame(r, name, fi, c.Perm|0o700); err != nil {
		return nil, err
	}
	return r.Lstat(name)
}

// chmod sets the permission bits of a file or directory.
func (w *worker) chmod(r *os.Root, name string, i int) error {
	c := &w.changes[i]
	expected := *c
	if c.Mode == object.Dir {
		was := *c.Was
		expected.Was = &was
		was.Perm = w.loosePerm(c, r, name)
	}
	fi, done, err := w.guard(r, name, &expected)
	defer done()
	if err != nil {
		return err
	}
	perm := w.bitsOnChmod(c, fi)
	if perm != c.Perm && samePerm(dir.InfoOf(fi).Perm, perm, fi.IsDir()) {
		return ErrWithheld
	}
	if !samePerm(dir.InfoOf(fi).Perm, perm, fi.IsDir()) {
		if w.bitsAreShared(c, fi) {
			return w.write(r, name, i)
		}
		if err := w.chmodDurably(r, name, i, fi, perm); err != nil {
			return err
		}
	}
	w.forget(c.Path)
	now, err := r.Lstat(name)
	if err != nil || !os.SameFile(fi, now) {
		return err
	}
	w.outcomes[i].Linked = isLinked(now)
	w.record(i, name, now)
	return nil
}

// chmodDurably sets the bits. A file is staged and flushed with the others. A directory is flushed
// with its names. A file that its owner may not open is flushed with its directory, as far as the
// file system does that.
func (w *worker) chmodDurably(r *os.Root, name string, i int, fi fs.FileInfo, perm uint16) error {
	c := &w.changes[i]
	if fi.IsDir() || !w.Sync {
		w.touchAlone(parentPath(c.Path))
		if c.Perm&0o500 == 0o500 {
			w.touchAlone(c.Path)
		}
		return chmodSame(r, name, fi, perm)
	}
	f, err := openSame(r, name, fi)
	if errors.Is(err, fs.ErrPermission) {
		w.touchAlone(parentPath(c.Path))
		return chmodUnreadable(r, name, fi, perm)
	}
	if err != nil {
		return err
	}
	if err := chmodOpen(r, name, f, perm); err != nil {
		f.Close()
		return err
	}
	w.stage(r, staged{i: i, file: f, device: dir.DeviceOf(fi)})
	return nil
}

// loosePerm returns the expected present bits of a directory: those of the plan, or wider ones if
// this run or the resumed one has widened them.
func (w *worker) loosePerm(c *Change, r *os.Root, name string) uint16 {
	w.mu.Lock()
	_, ours := w.loose[c.Path]
	w.mu.Unlock()
	if ours || w.Resume {
		if fi, err := r.Lstat(name); err == nil && dir.InfoOf(fi).Perm == c.Was.Perm|0o700 {
			return c.Was.Perm | 0o700
		}
	}
	return c.Was.Perm
}

// forget removes a directory from those whose bits are restored: it is gone, or has the bits that
// the plan wants.
func (w *worker) forget(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.loose, path)
}
