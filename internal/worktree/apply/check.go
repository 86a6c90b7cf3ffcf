package apply

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// guard is the last check before a path is changed: the path must be in the expected state. It returns nil for a path
// that is absent as expected. Until the caller calls done, no other worker changes a file with several names: a change
// of another name would move the change time that is compared here.
func (w *worker) guard(r *os.Root, name string, c *Change) (fi fs.FileInfo, done func(), err error) {
	done = func() {}
	if fi, err = r.Lstat(name); err == nil && isLinked(fi) {
		w.links.Lock()
		done = w.links.Unlock
		fi, err = r.Lstat(name)
	}
	fi, err = w.asExpected(r, name, c, fi, err)
	return fi, done, err
}

// asExpected checks what Lstat has returned for a path.
func (w *worker) asExpected(r *os.Root, name string, c *Change, fi fs.FileInfo, err error) (fs.FileInfo, error) {
	if errors.Is(err, fs.ErrNotExist) {
		if c.Was == nil || c.Action == Delete {
			return nil, nil
		}
		return nil, dir.ErrChanged
	}
	if err != nil {
		return nil, err
	}
	if c.Was == nil {
		return nil, dir.ErrChanged
	}
	switch match(c.Was, dir.InfoOf(fi), c) {
	case matchYes:
		return fi, nil
	case matchNo:
		return nil, dir.ErrChanged
	}
	if same, err := w.hasContents(r, name, fi, c.expectedID()); err != nil || !same {
		return nil, cmp.Or(err, dir.ErrChanged)
	}
	if now, err := r.Lstat(name); err != nil || dir.InfoOf(now) != dir.InfoOf(fi) {
		return nil, dir.ErrChanged
	}
	return fi, nil
}

type verdict uint8

const (
	matchNo verdict = iota
	matchYes
	matchContents // matchYes if the contents are the expected ones
)

// match compares the state on disk with the expected one.
func match(e *dir.State, now dir.Info, c *Change) verdict {
	if now.Mode == 0 || kindOf(now.Mode) != kindOf(e.Mode) {
		return matchNo
	}
	dir := now.Mode == object.Dir
	chmod := c.Action == Chmod
	if now.Mode != object.Symlink && !samePerm(now.Perm, e.Perm, dir) &&
		!(chmod && samePerm(now.Perm, c.Perm, dir)) && !(dir && !chmod) {
		return matchNo
	}
	if dir {
		return matchIf(e.Stat.Ino == 0 || now.Stat.Ino == 0 || e.Stat.Ino == now.Stat.Ino)
	}
	switch {
	case e.Stat == index.Stat{}:
	case e.Stat == now.Stat:
		return matchYes
	case e.Stat.Size != now.Stat.Size:
		return matchNo
	}
	if c.expectedID().IsZero() {
		return matchNo
	}
	return matchContents
}

// expectedID is the id of the expected contents on disk, zero if unknown. A Chmod does not change
// the contents, so its wanted id is expected, too.
func (c *Change) expectedID() object.ID {
	if c.Was.ID.IsZero() && c.Action == Chmod {
		return c.ID
	}
	return c.Was.ID
}

func matchIf(ok bool) verdict {
	if ok {
		return matchYes
	}
	return matchNo
}

// kindOf ignores the exec bit, which the permission bits hold.
func kindOf(m object.Mode) object.Mode {
	if m == object.Executable {
		return object.Regular
	}
	return m
}

// asWanted reports, when resuming, whether the path is in the wanted state already.
func (w *worker) asWanted(r *os.Root, name string, c *Change) (fs.FileInfo, error) {
	fi, err := r.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now := dir.InfoOf(fi)
	if kindOf(now.Mode) != kindOf(c.Mode) || c.Was != nil && match(c.Was, now, c) == matchYes {
		return nil, nil
	}
	if now.Mode == object.Dir {
		return fi, nil // its permission bits are set at the end
	}
	if now.Mode != object.Symlink && !samePerm(now.Perm, w.bitsAs(ownerOf(fi), c.Perm), false) {
		return nil, nil
	}
	if same, err := w.hasContents(r, name, fi, c.ID); err != nil || !same {
		return nil, err
	}
	return fi, nil
}

// goneAbove reports whether a removal has nothing to do because a directory above its path was
// removed or, when resuming, has already been replaced by this plan.
func (w *worker) goneAbove(path string, err error) bool {
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if !w.Resume || !errors.Is(err, dir.ErrNotDirectory) {
		return false
	}
	for up := parentPath(path); up != ""; up = parentPath(up) {
		made := cmp.Or(w.instead[up], up)
		if i, ok := w.twins[made]; ok && i != impliedFolder && w.changes[i].Action != Mkdir {
			return w.twinDone(made)
		}
	}
	return false
}

// replacedBefore reports, when resuming, whether the path for which a removal made room exists.
func (w *worker) replacedBefore(c *Change) bool {
	return w.Resume && (w.twinDone(c.Path) || c.As != "" && w.twinDone(c.As))
}

// twinDone reports whether the path that the plan makes exists.
func (w *worker) twinDone(path string) bool {
	i, ok := w.twins[path]
	if !ok {
		return false
	}
	c := Change{Mode: object.Dir}
	if i != impliedFolder {
		c = w.changes[i]
		c.Was = nil
	}
	parent, name := splitPath(path)
	done := false
	err := w.in(parent, false, func(r *os.Root) error {
		fi, err := w.asWanted(r, name, &c)
		done = fi != nil
		return err
	})
	return done && err == nil
}

// hasContents reports whether the file or symlink described by fi has the contents id.
func (w *worker) hasContents(r *os.Root, name string, fi fs.FileInfo, id object.ID) (bool, error) {
	if fi.Mode()&fs.ModeSymlink != 0 {
		text, err := r.Readlink(name)
		return object.Sum(object.Blob, []byte(filepath.ToSlash(text))) == id, err
	}
	f, err := openSame(r, name, fi)
	if err != nil {
		return false, err
	}
	defer f.Close()
	got, err := w.hashFile(f, fi.Size())
	if err == io.EOF {
		return false, nil // the file shrank during the read
	}
	if err != nil {
		return false, err
	}
	now, err := f.Stat()
	return err == nil && now.Size() == fi.Size() && got == id, err
}

// hashFile reads size bytes from the start of the file.
func (w *worker) hashFile(f *os.File, size int64) (object.ID, error) {
	w.grow()
	h := object.NewHash(object.Blob, size)
	for off := int64(0); off < size; {
		if err := w.ctx.Err(); err != nil {
			return object.ID{}, err
		}
		n, err := f.ReadAt(w.cmp[:min(int64(len(w.cmp)), size-off)], off)
		h.Write(w.cmp[:n])
		off += int64(n)
		if err != nil && off < size {
			return object.ID{}, err
		}
	}
	return object.HashID(h), nil
}
