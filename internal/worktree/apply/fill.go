package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// filler makes files of a Builder one at a time.
type filler struct {
	*filling
	ctx      context.Context
	path     string // the directory that the handles are of
	open     bool
	to, live handles
	from     *dir.Handle // nil: the live directory lacks this one
	buf      []byte

	runsAs *owner // of the live file that was copied, if it has setuid or setgid bits
}

func (w *filler) close() {
	w.to.close()
	w.live.close()
}

// add makes the file of item i. It returns false after an error that stops all.
func (w *filler) add(i int) bool {
	err := w.ctx.Err()
	if err != nil {
		return false
	}
	it := &w.items[i]
	parent, name := splitPath(it.Path)
	if err = w.enter(parent); err == nil {
		if it.Mode == object.Symlink {
			err = w.link(name, it, &w.built[i])
		} else {
			err = w.file(name, it, &w.built[i])
		}
	}
	return w.done(i, err)
}

// enter opens a directory, and the live one if there is one.
func (w *filler) enter(parent string) error {
	if w.open && w.path == parent {
		return nil
	}
	w.open = false
	if w.buf == nil {
		w.buf = make([]byte, bufferSize)
	}
	if _, err := w.to.enter(w.Dir, parent); err != nil {
		return fatal{err}
	}
	w.from = nil
	if w.Live != "" {
		h, err := w.live.enter(w.Live, parent)
		if err != nil && dir.Classify(err) == dir.Fatal {
			return fatal{err}
		}
		w.from = h
	}
	w.path, w.open = parent, true
	return nil
}

func (w *filler) file(name string, it *Item, out *Built) error {
	made, err := w.fromLive(name, it, out)
	if made == nil && err == nil {
		if it.ID.IsZero() {
			return dir.ErrChanged // gone, or no file any more
		}
		made, err = w.fromSource(name, it, out)
	}
	if err != nil {
		return err
	}
	defer made.close()
	mtime := int64(0)
	if out.Way != Written {
		mtime = it.Live.MTime
	}
	info, err := made.finish(w.bits(it, out), w.owner, mtime, w.Sync && !syncsWhole)
	if err != nil {
		return fatal{err}
	}
	out.Size = info.Stat.Size
	if !it.ID.IsZero() {
		out.Entry = index.Entry{Name: name, Mode: info.Mode, Perm: info.Perm, Stat: info.Stat, ID: it.ID, Racy: fresh(info.Stat)}
	}
	return nil
}

// bits returns the permission bits of a new file. For the superuser, setuid and setgid bits are those of a live
// file with the same owner.
func (w *filler) bits(it *Item, out *Built) uint16 {
	if !superuser || it.Perm&setIDs == 0 {
		return it.Perm
	}
	to := w.owner
	if to == nil {
		to = rootOwner()
	}
	if out.Way == Written {
		w.runsAs = w.liveRunsAs(it)
	}
	if w.runsAs != nil && *w.runsAs == *to {
		return it.Perm
	}
	return it.Perm &^ setIDs
}

// liveRunsAs is runsAs of the live file, if that has the contents that were written.
func (w *filler) liveRunsAs(it *Item) *owner {
	if w.from == nil {
		return nil
	}
	_, name := splitPath(it.Path)
	src, err := w.from.OpenFile(name)
	if err != nil {
		return nil
	}
	defer src.Close()
	st, err := src.Stat()
	if err != nil || !st.Mode.IsFile() {
		return nil
	}
	h := object.NewHash(object.Blob, st.Stat.Size)
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{src}, w.buf); err != nil || object.HashID(h) != it.ID {
		return nil
	}
	return runsAs(src, st.Perm, it.Perm)
}

// runsAs returns the owner of a file that has the setuid and setgid bits of want, else nil.
func runsAs(f dir.File, perm, want uint16) *owner {
	if want&setIDs == 0 || want&setIDs&^perm != 0 {
		return nil
	}
	uid, gid, ok := f.Owner()
	if !ok {
		return nil
	}
	return &owner{uid, gid}
}

// settled is how old a file's time of modification must be for a later write to show in it, however
// coarse the clock of the file system.
const settled = 3 * time.Second

// fresh reports whether a write right now could leave the stat as it is.
func fresh(st index.Stat) bool { return time.Now().Add(-settled).UnixNano() < st.MTime }

// maxLooks is how often a live file is read that changes meanwhile.
const maxLooks = 3

// fromLive makes a file out of the live one. It returns nil if the live file does not have the
// contents.
func (w *filler) fromLive(name string, it *Item, out *Built) (*newFile, error) {
	if w.from == nil || !it.FromLive && !it.ID.IsZero() {
		return nil, nil
	}
	src, err := w.from.OpenFile(name)
	if err != nil {
		return nil, w.readError(it, err)
	}
	defer src.Close()
	for range maxLooks {
		before, err := src.Stat()
		if err != nil {
			return nil, w.readError(it, err)
		}
		if !before.Mode.IsFile() || !it.ID.IsZero() && before.Stat != it.Live {
			return nil, nil
		}
		made, err := w.duplicate(src, name, it, before.Stat.Size, out)
		if err != nil || made == nil {
			return nil, err
		}
		after, err := src.Stat()
		if err == nil && after.Stat == before.Stat {
			w.runsAs = runsAs(src, after.Perm, it.Perm)
			it.Live.MTime = before.Stat.MTime
			return made, nil
		}
		if err := made.discard(); err != nil {
			return nil, fatal{err}
		}
	}
	if it.ID.IsZero() {
		return nil, ErrUnsteady
	}
	return nil, nil
}

// readError is the error of a live file that cannot be read. The Source has the contents of a file
// with an ID.
func (w *filler) readError(it *Item, err error) error {
	switch {
	case it.ID.IsZero():
		return err
	case dir.Classify(err) == dir.Fatal:
		return fatal{err}
	}
	return nil
}

// duplicate clones a live file, or copies it where the file system cannot clone. It returns nil if
// the live file could not be read to its end.
func (w *filler) duplicate(src dir.File, name string, it *Item, size int64, out *Built) (*newFile, error) {
	if size > 0 && !w.noClone.Load() {
		made, err := cloneFile(w.to.last(), w.place(), name, src, it.Perm, w.mask)
		if err == nil {
			out.Way = Cloned
			return made, nil
		}
		if !errors.Is(err, errNoClone) {
			return nil, nameError(err)
		}
		if errors.Is(err, errNeverClones) {
			w.noClone.Store(true)
		}
	}
	made, err := createFile(w.to.last(), w.place(), name, it.Perm, w.mask)
	if err != nil {
		return nil, nameError(err)
	}
	out.Way = Copied
	readErr, err := copyFile(w.ctx, made, src, size, w.buf)
	if err == nil && readErr == nil {
		return made, nil
	}
	if derr := made.discard(); err == nil && derr != nil {
		err = derr
	}
	if err != nil {
		return nil, fatal{err}
	}
	return nil, w.readError(it, readErr)
}

// place is the directory that is being filled, for systems on which a handle is of no use.
func (w *filler) place() string { return w.Builder.path(w.path) }

func (w *filler) fromSource(name string, it *Item, out *Built) (*newFile, error) {
	size, src, err := w.Source.Open(it.ID)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	made, err := createFile(w.to.last(), w.place(), name, it.Perm, w.mask)
	if err != nil {
		return nil, nameError(err)
	}
	out.Way = Written
	reader := &sourceReader{r: src}
	err = copyAll(w.ctx, made, reader, size, w.buf)
	if err == nil {
		return made, nil
	}
	if derr := made.discard(); derr != nil {
		return nil, fatal{derr}
	}
	if reader.err != nil || errors.Is(err, errContents) {
		return nil, err
	}
	return nil, fatal{err}
}

// sourceReader tells the errors of a reader from those of the writer.
type sourceReader struct {
	r   io.Reader
	err error
}

func (r *sourceReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

func (w *filler) link(name string, it *Item, out *Built) error {
	text, mtime, err := w.linkText(name, it)
	if err != nil {
		return err
	}
	info, err := createLink(w.to.last(), w.place(), name, filepath.FromSlash(text), w.owner, mtime)
	if err != nil && noLinks(err) {
		return err
	}
	if err != nil {
		return nameError(err)
	}
	out.Size = int64(len(text))
	if !it.ID.IsZero() {
		out.Entry = index.Entry{Name: name, Mode: info.Mode, Perm: info.Perm, Stat: info.Stat, ID: it.ID, Racy: fresh(info.Stat)}
	}
	return nil
}

// linkText returns the text of a link, with '/', and the time of the live link if that is it.
func (w *filler) linkText(name string, it *Item) (text string, mtime int64, err error) {
	if w.from != nil && (it.FromLive || it.ID.IsZero()) {
		live, lerr := w.from.Readlink(name)
		live = filepath.ToSlash(live)
		if lerr == nil && (it.ID.IsZero() || object.Sum(object.Blob, []byte(live)) == it.ID) {
			return live, it.Live.MTime, nil
		}
		err = lerr
	}
	if it.ID.IsZero() {
		if err == nil {
			err = dir.ErrChanged
		}
		return "", 0, err
	}
	size, src, err := w.Source.Open(it.ID)
	if err != nil {
		return "", 0, err
	}
	defer src.Close()
	data, err := readLinkText(src, size)
	return string(data), 0, err
}

// readLinkText reads the text of a link out of a Source.
func readLinkText(src io.Reader, size int64) ([]byte, error) {
	if size > maxLinkText {
		return nil, fmt.Errorf("link text of %d bytes: %w", size, errContents)
	}
	return io.ReadAll(io.LimitReader(src, maxLinkText+1))
}

// nameError is an error of making a name: about this name only, or one that stops all.
func nameError(err error) error {
	if ofName(err) {
		return err
	}
	return fatal{err}
}

// copyFile copies size bytes of a live file, or fewer where it ends before. readErr is an error of
// the live file, err one of the new file.
func copyFile(ctx context.Context, made *newFile, src dir.File, size int64, buf []byte) (readErr, err error) {
	if size > int64(len(buf)) {
		if done, err := copyRange(ctx, made, src, size); done || err != nil {
			return nil, err
		}
	}
	for left := size; left > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := src.Read(buf[:min(left, int64(len(buf)))])
		if n > 0 {
			if _, err := made.Write(buf[:n]); err != nil {
				return nil, err
			}
		}
		if left -= int64(n); err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return err, nil
		}
	}
	return nil, nil
}
