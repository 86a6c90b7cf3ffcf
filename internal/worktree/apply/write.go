package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// bufferSize holds most source files in one read.
const bufferSize = 128 << 10

// maxLinkText is larger than any system allows (4095 bytes on Linux).
const maxLinkText = 64 << 10

var errContents = errors.New("contents differ from their id")

func (w *worker) grow() {
	if w.buf == nil {
		w.buf, w.cmp = make([]byte, bufferSize), make([]byte, bufferSize)
	}
}

// write stages the contents in a temporary file, which place will rename to name.
func (w *worker) write(r *os.Root, name string, i int) error {
	c := &w.changes[i]
	if w.Resume {
		if fi, err := w.asWanted(r, name, c); fi != nil || err != nil {
			w.record(i, name, fi)
			return err
		}
	}
	tmp := dir.TempName(w.Token, i)
	f, made, err := w.prepare(r, tmp, c, w.ownerFor(r, name))
	if err != nil {
		return err
	}
	w.stage(r, staged{i: i, tmp: tmp, name: name, file: f, made: made, device: dir.DeviceOf(made)})
	return nil
}

// prepare makes the temporary link, or the temporary file, which stays open. On failure it removes
// it.
func (w *worker) prepare(r *os.Root, tmp string, c *Change, to *owner) (*os.File, fs.FileInfo, error) {
	size, src, err := w.Source.Open(c.ID)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	if c.Mode == object.Symlink {
		made, err := w.prepareLink(r, tmp, c, src, size)
		if err == nil && to != nil {
			_ = chownLink(r, tmp, *to) // a link of the superuser's serves as well
		}
		return nil, made, err
	}
	f, err := w.createTemp(r, tmp, c.Perm)
	if err != nil {
		return nil, nil, err
	}
	made, err := w.fill(f, c, to, src, size, w.inOrder(w.stack.Here(), r))
	if err != nil {
		f.Close()
		return nil, nil, removeTemp(r, w.stack.Here().Path, tmp, err)
	}
	return f, made, nil
}

// createTemp makes a file that other users can never access beyond the wanted bits.
func (w *worker) createTemp(r *os.Root, tmp string, perm uint16) (*os.File, error) {
	create := func() (*os.File, error) {
		return r.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, fs.FileMode(perm&0o777|0o600))
	}
	f, err := create()
	if w.Resume && errors.Is(err, fs.ErrExist) {
		if err := w.removeOld(r, tmp); err != nil {
			return nil, err
		}
		return create()
	}
	return f, err
}

// fill writes, verifies and finishes the temporary file. With early it starts write-back before the
// verification; a lost write is noticed by the later flush.
func (w *worker) fill(f *os.File, c *Change, to *owner, src io.Reader, size int64, early bool) (fs.FileInfo, error) {
	if err := w.copy(f, src, size); err != nil {
		return nil, err
	}
	if early && size > 0 && startWriting(f) != nil {
		if err := f.Sync(); err != nil {
			return nil, err
		}
	}
	id, err := w.hashFile(f, size)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if id != c.ID || fi.Size() != size {
		return nil, fmt.Errorf("read back: %w", errContents)
	}
	w.fine.probe(f, dir.DeviceOf(fi))
	perm := w.bitsAs(to.take(f, fi), c.Perm)
	if !samePerm(dir.InfoOf(fi).Perm, perm, false) { // after writing and a change of owner, which clear setuid
		if err := f.Chmod(permMode(perm)); err != nil {
			return nil, err
		}
	}
	return fi, nil
}

// copy writes src to f. It reads src to its end, where a Source vouches for its data.
func (w *worker) copy(f *os.File, src io.Reader, size int64) error {
	w.grow()
	return copyAll(w.ctx, f, src, size, w.buf)
}

// copyAll writes src, which has size bytes, to f by way of a buffer. It reads src to its end.
func copyAll(ctx context.Context, f io.Writer, src io.Reader, size int64, buf []byte) error {
	var total int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := fillBuffer(src, buf)
		if total += int64(n); total > size || err == io.EOF && total < size {
			return fmt.Errorf("%w: %d bytes or more, want %d", errContents, total, size)
		}
		if n > 0 {
			if _, err := f.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// fillBuffer is io.ReadFull, but keeps the reader's error: io.EOF is the proper end, any other
// error is a broken read.
func fillBuffer(src io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var m int
		m, err = src.Read(buf[n:])
		n += m
	}
	return n, err
}

func (w *worker) prepareLink(r *os.Root, tmp string, c *Change, src io.Reader, size int64) (fs.FileInfo, error) {
	if size > maxLinkText {
		return nil, fmt.Errorf("link text of %d bytes: %w", size, fs.ErrInvalid)
	}
	text, err := io.ReadAll(io.LimitReader(src, maxLinkText+1))
	if err != nil {
		return nil, err
	}
	if object.Sum(object.Blob, text) != c.ID {
		return nil, errContents
	}
	target := filepath.FromSlash(string(text))
	err = r.Symlink(target, tmp)
	if w.Resume && errors.Is(err, fs.ErrExist) {
		if err = w.removeOld(r, tmp); err == nil {
			err = r.Symlink(target, tmp)
		}
	}
	if err != nil {
		return nil, err
	}
	fi, err := r.Lstat(tmp)
	if err == nil {
		var same bool
		if same, err = w.hasContents(r, tmp, fi, c.ID); err == nil && !same {
			err = errContents
		}
	}
	if err != nil {
		return nil, removeTemp(r, w.stack.Here().Path, tmp, err)
	}
	return fi, nil
}

// replace renames the temporary file to name, if the path is still in the expected state.
func (w *worker) replace(r *os.Root, tmp, name string, i int, made fs.FileInfo) error {
	c := &w.changes[i]
	old, done, err := w.guard(r, name, c)
	defer done()
	if err != nil {
		return err
	}
	if err := w.swapIn(r, tmp, name, c, old, made); err != nil {
		return err
	}
	w.outcomes[i].Linked = old != nil && isLinked(old)
	if fi, err := r.Lstat(name); err == nil && os.SameFile(fi, made) && fi.Size() == made.Size() && fi.ModTime().Equal(made.ModTime()) {
		w.record(i, name, fi)
		w.outcomes[i].Entry.Racy = !fi.Mode().IsRegular() || !w.fine.of(dir.DeviceOf(fi)).Files
	}
	return nil
}

// record fills the Entry of change i from the state on disk.
func (w *worker) record(i int, name string, fi fs.FileInfo) {
	if fi == nil {
		return
	}
	c, now := &w.changes[i], dir.InfoOf(fi)
	w.outcomes[i].Withheld = superuser && now.Mode.IsFile() && c.Perm&^now.Perm&setIDs != 0
	e := index.Entry{Name: name, Mode: now.Mode, Perm: now.Perm, Stat: now.Stat, ID: c.ID, Racy: true}
	if now.Mode == object.Dir {
		e.ID, e.Racy = object.ID{}, false
	} else if c.Action == Chmod {
		e.ID = c.expectedID()
	}
	w.outcomes[i].Entry = e
}
