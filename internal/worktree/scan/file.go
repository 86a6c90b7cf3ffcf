package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

const (
	// maxInMemory is the size up to which a file is read into one buffer. A larger file is hashed
	// first and read a second time only if its blob is new.
	maxInMemory = 8 << 20

	// readAttempts is how often a file is read that changes during the read.
	readAttempts = 3

	// racySlack is the least age, at the time of the read, of a file's times for its stat to prove
	// that the file is unchanged. Kernels stamp files with a clock that ticks every 1 to 10 ms; ten
	// ticks of the slowest leave room for adjustments. racySlackCoarse applies to file systems that
	// keep whole seconds: two of them.
	racySlack       = 100 * time.Millisecond
	racySlackCoarse = 2 * time.Second
)

// errSecret: the Inspector leaves a file out.
var errSecret = errors.New("holds a secret")

// errUnstable: a file changed while it was read.
var errUnstable = errors.New("changed while it was read")

// capture reads the file or symlink name of n and returns its entry, nil if it has gone. rec is its
// old entry, if any.
func (w *worker) capture(n *node, name, path string, st dir.Info, rec index.Record) (*index.Entry, error) {
	for range readAttempts {
		e := &index.Entry{Name: name, Mode: st.Mode, Perm: st.Perm, Stat: st.Stat, Held: protected(rec)}
		switch {
		case st.Mode == 0:
			return w.leaveOut(e, path, index.Special, nil), nil
		case w.tooLarge(&st):
			return w.leaveOut(e, path, index.TooLarge, nil), nil
		}
		started := time.Now()
		if id, lasting, ok := w.known(path, &st); ok {
			e.ID, e.Held, e.Racy = id, false, !lasting && racy(&st.Stat, started)
			w.files++
			return e, nil
		}
		if err := w.announce(st.Stat.Size); err != nil {
			return nil, err
		}
		if w.survey {
			w.files++
			return nil, nil
		}
		id, err := w.store(n, name, path, st)
		w.reading += time.Since(started)
		if err == nil {
			e.ID, e.Held, e.Racy = id, false, racy(&st.Stat, started)
			w.files++
			w.read.Add(1)
			w.bytes.Add(st.Stat.Size)
			return e, nil
		}
		if errors.Is(err, errSecret) {
			return w.leaveOut(e, path, index.Secret, nil), nil
		}
		var sys *readError
		if !errors.As(err, &sys) {
			return nil, fmt.Errorf("store %s: %w", w.full(path), err)
		}
		switch kind := dir.Classify(err); {
		case errors.Is(err, context.DeadlineExceeded):
			return nil, errUnread
		case errors.Is(err, errUnstable), kind == dir.Replaced:
		case kind == dir.Gone:
			return nil, nil
		case kind == dir.Unreadable:
			return w.leaveOut(e, path, index.Unreadable, sys.err), nil
		default:
			return nil, fmt.Errorf("read %s: %w", w.full(path), err)
		}
		again, err := n.handle.Lstat(append([]byte(name), 0)[:len(name)])
		if err != nil && dir.Classify(err) == dir.Gone {
			return nil, nil
		}
		if err != nil || again.Mode == object.Dir { // the next scan sees it
			break
		}
		st = again
	}
	e := &index.Entry{Name: name, Mode: st.Mode, Perm: st.Perm, Stat: st.Stat, Held: protected(rec)}
	return w.leaveOut(e, path, index.Unstable, nil), nil
}

// known asks Walk.Known for the contents.
func (w *worker) known(path string, st *dir.Info) (id object.ID, lasting, ok bool) {
	if w.Known == nil || w.Verify {
		return object.ID{}, false, false
	}
	return w.Known(path, st.Mode, &st.Stat)
}

// borrow captures a file or symlink that the index does not have and the lender knows.
func (w *worker) borrow(n *node, name []byte, rec index.Record, st *dir.Info) bool {
	if w.Lender == nil || w.Verify || w.Never != nil || st.Mode == 0 || w.tooLarge(st) || rec != nil && rec.Mode() == object.Dir {
		return false
	}
	if n.lent == nil {
		n.lent = w.Lender(n.path, w.listedNames(n))
	}
	if object.IsDotGit(string(name)) {
		return false
	}
	looked := time.Now()
	id, ok := n.lent(name, st.Mode, &st.Stat)
	if !ok {
		return false
	}
	n.block = index.Append(n.block, &index.Entry{
		Name: string(name), Mode: st.Mode, Perm: st.Perm, Stat: st.Stat, ID: id, Racy: racy(&st.Stat, looked),
	})
	w.files++
	w.lent++
	return true
}

// listedNames returns the names in n, nil if they were not listed.
func (w *worker) listedNames(n *node) [][]byte {
	if !n.listed {
		return nil
	}
	return w.names.Names
}

func (w *worker) leaveOut(e *index.Entry, path string, why index.Skip, cause error) *index.Entry {
	e.Skip = why
	w.skip(Skipped{Path: path, Reason: why, Size: e.Stat.Size, Err: cause})
	return e
}

// racy applies the rule of git's racy-git document: a stat proves nothing if a later write could
// leave the same stat.
func racy(st *index.Stat, read time.Time) bool {
	newest := max(st.MTime, st.CTime)
	slack := racySlack
	if newest%int64(time.Second) == 0 {
		slack = racySlackCoarse
	}
	return newest >= read.Add(-slack).UnixNano()
}

// readError marks an error of the user's directory and not of the store.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// store adds the contents to the sink. Errors of the directory are readErrors; the others are the
// sink's.
func (w *worker) store(n *node, name, path string, st dir.Info) (object.ID, error) {
	if st.Mode == object.Symlink {
		target, err := n.handle.Readlink(name)
		if err != nil {
			return object.ID{}, &readError{linkError(err)}
		}
		return w.Sink.Add(object.Blob, []byte(target))
	}
	f, err := n.handle.OpenFile(name)
	if err != nil {
		return object.ID{}, &readError{err}
	}
	defer f.Close()
	return w.storeFile(f, path, st)
}

// linkError: a system that reports "no link" (EINVAL on Unix) shows that the name was replaced
// since the lstat.
func linkError(err error) error {
	if dir.Classify(err) == dir.Fatal {
		return errors.Join(errUnstable, err)
	}
	return err
}

// storeFile reads an open file between two stats. If both equal st, the bytes are the file's
// contents at one moment.
func (w *worker) storeFile(f dir.File, path string, st dir.Info) (object.ID, error) {
	if err := sameStat(f, st); err != nil {
		return object.ID{}, err
	}
	id, err := w.readInto(f, path, st.Stat.Size)
	if err != nil {
		return object.ID{}, err
	}
	return id, sameStat(f, st)
}

func sameStat(f dir.File, want dir.Info) error {
	now, err := f.Stat()
	if err == nil && now != want {
		err = errUnstable
	}
	if err != nil {
		return &readError{err}
	}
	return nil
}

func (w *worker) readInto(f dir.File, path string, size int64) (object.ID, error) {
	if size > maxInMemory {
		return w.streamInto(f, path, size)
	}
	if int64(cap(w.content)) < size+1 {
		w.content = make([]byte, size+1+size/4+4096)
	}
	buf := w.content[:size+1] // one more byte, to notice growth and files whose stat says 0
	n, err := io.ReadFull(f, buf)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return object.ID{}, &readError{err}
	}
	if int64(n) != size {
		return object.ID{}, &readError{errUnstable}
	}
	if w.Inspector == nil {
		return w.Sink.Add(object.Blob, buf[:size])
	}
	id := object.Sum(object.Blob, buf[:size])
	if w.Sink.Has(id) {
		w.Inspector.Held(path, id)
	} else if w.Inspector.Inspect(path, id, buf[:size]) {
		return object.ID{}, errSecret
	}
	return id, w.Sink.AddAs(id, object.Blob, buf[:size])
}

// streamInto hashes a large file before it adds it: compression costs twenty times as much and is
// wasted on a known blob.
func (w *worker) streamInto(f dir.File, path string, size int64) (object.ID, error) {
	h := object.NewHash(object.Blob, size)
	n, err := io.Copy(h, io.LimitReader(&contextReader{w.ctx, f}, size+1))
	if err != nil {
		return object.ID{}, &readError{err}
	}
	if n != size {
		return object.ID{}, &readError{errUnstable}
	}
	id := object.HashID(h)
	if w.Sink.Has(id) {
		if w.Inspector != nil {
			w.Inspector.Held(path, id)
		}
		return id, nil
	}
	if err := w.inspectFrom(f, path, id, size); err != nil {
		return object.ID{}, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return object.ID{}, &readError{err}
	}
	counted := &countingReader{r: &contextReader{w.ctx, f}}
	stored, err := w.Sink.AddBlob(io.LimitReader(counted, size), size)
	switch {
	case counted.err != nil:
		return object.ID{}, &readError{counted.err}
	case err != nil && counted.n < size, err == nil && stored != id:
		return object.ID{}, &readError{errUnstable}
	}
	return id, err
}

// inspectFrom shows a large file to the Inspector.
func (w *worker) inspectFrom(f dir.File, path string, id object.ID, size int64) error {
	if w.Inspector == nil {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return &readError{err}
	}
	leave, err := w.Inspector.InspectFrom(path, id, io.LimitReader(&contextReader{w.ctx, f}, size))
	if err != nil {
		return &readError{err}
	}
	if leave {
		return errSecret
	}
	return nil
}
