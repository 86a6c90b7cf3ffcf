package scan

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// worker scans one directory after the other. Its buffers are reused.
type worker struct {
	*scanner
	dirents  []byte
	names    dir.Listing
	block    []byte // block buffer for the next directory
	children []*node
	files    int           // since the last directory was done
	surveyed int64         // bytes, since the last directory was done
	quick    bool          // use non-blocking lstat calls, see visitPaced
	looks    int           // lstat calls in the present directory
	reading  time.Duration // time spent reading files of the present directory
	listed   int           // number of listed directories
	lent     int           // number of files that the Lender knew
	slow     int           // number of directories until quick is tried again
	tree     treeWriter
	content  []byte
}

func (w *worker) run() {
	defer func() {
		w.scanner.listed.Add(int64(w.listed))
		w.scanner.lent.Add(int64(w.lent))
	}()
	for n := w.pop(); n != nil; n = w.pop() {
		err := w.scanDir(n)
		if err == nil {
			err = w.finish(n)
		}
		if err != nil {
			w.abandon(n)
			w.fail(err)
			return
		}
	}
}

// abandon puts n back on the stack, so that closeAll closes it.
func (sc *scanner) abandon(n *node) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.stack = append(sc.stack, n)
}

// scanDir scans one directory:
//
//  1. open it, relative to its parent and not through a symlink
//  2. list and sort the names, and walk them beside the entries of the old block;
//     if that is sealed, walk only these
//  3. a file whose stat matches: copy the old entry; otherwise read it
//  4. a directory: an entry without an id, and a child to scan
//  5. old directories that are no longer there: remove them from the index
//
// The children are pushed when the block is complete, because they write their ids into it.
func (w *worker) scanDir(n *node) error {
	n.pending.Store(1)
	if n.prev != nil {
		n.path, n.room = n.prev.Path, nil // the index keeps this copy in memory anyway
	}
	if late, err := w.overdue(); err != nil {
		return err
	} else if late && n.parent != nil {
		w.leaveDir(n)
		return nil
	}
	if ok, err := w.open(n); !ok {
		return err
	}
	n.block, w.children = w.block[:0], w.children[:0]
	if err := w.visitPaced(n); err != nil {
		w.record(n)
		return err
	}
	if n.shared {
		n.block = nil
	} else {
		w.block = nil // n owns it until n is complete
	}
	w.notePrint(n)
	if err := w.count(n); err != nil {
		return err
	}
	n.pending.Add(int32(len(w.children)))
	w.push(w.children)
	if w.Progress != nil {
		w.Progress(w.counted())
	}
	return nil
}

// If lstat takes longer than slowLook per name, the worker uses blocking calls for this and
// the next slowDirs directories.
const (
	slowLook = 20 * time.Microsecond
	slowDirs = 32
)

// visitPaced is visitAll with non-blocking lstat calls as long as they are fast. With a cold
// cache or a network mount such a call would keep other goroutines from running.
func (w *worker) visitPaced(n *node) error {
	if w.quick = w.local && w.slow == 0; !w.quick {
		w.slow = max(w.slow-1, 0)
	}
	w.looks, w.reading = 0, 0
	started := time.Now()
	err := w.visitAll(n)
	if time.Since(started)-w.reading > time.Duration(w.looks+16)*slowLook {
		w.slow = slowDirs
	}
	return err
}

// lstat reads the stat of a name and reports a file that has several names.
func (w *worker) lstat(n *node, name []byte) (st dir.Info, err error) {
	w.looks++
	if w.quick {
		st, err = n.handle.LstatQuick(name)
	} else {
		st, err = n.handle.Lstat(name)
	}
	if st.Linked && w.OnLinked != nil {
		w.OnLinked(n.path, string(name))
	}
	return st, err
}

// visitAll scans every name of n, or only some.
func (w *worker) visitAll(n *node) error {
	var old []byte
	if n.prev != nil {
		old = n.prev.Raw
	}
	switch {
	case n.sealed:
		return w.visitSealed(n)
	case n.names != nil:
		return w.visitNames(n, old)
	case w.Hints != nil && !n.whole:
		return w.visitHinted(n, old)
	}
	n.block = slices.Grow(n.block, index.RoomFor(w.names.Names))
	for _, name := range w.names.Names {
		var rec index.Record
		rec, old = w.seek(n, old, name)
		if err := w.visit(n, name, rec); err != nil {
			return err
		}
	}
	w.seek(n, old, nil)
	return nil
}

// open opens and lists n. If the directory is gone, replaced or unreadable, ok is false and the
// parent's entry is updated. err is set only for an error that ends the scan.
func (w *worker) open(n *node) (ok bool, err error) {
	if n.handle == nil {
		n.handle, err = n.parent.handle.OpenDir(n.name)
	}
	if err == nil && w.passStore(n) {
		return false, nil
	}
	if err == nil && w.Enter != nil {
		w.Enter(n.path, n.handle.Descriptor())
	}
	if err == nil && !w.survey {
		n.at, err = n.handle.Stat()
	}
	if n.sealed = err == nil && w.isSealed(n); err == nil && !n.sealed {
		if n.names = w.narrowed(n); n.names == nil || w.finely(n) || !knownNames(n.prev.Raw, n.names) {
			err = w.list(n)
		} else {
			w.leaveUnlisted(n)
		}
	}
	if err == nil {
		return true, nil
	}
	if n.parent == nil {
		return false, fmt.Errorf("read %s: %w", w.Root, err)
	}
	n.absent = true
	e, err := w.afterFailure(n, err)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", w.full(n.path), err)
	}
	n.parent.replace(n.slot, e)
	w.remove(n.path)
	return false, nil
}

// list reads the names of n.
func (w *worker) list(n *node) error {
	if w.dirents == nil {
		w.dirents = make([]byte, dir.ListBuffer)
	}
	w.listed++
	err := n.handle.List(&w.names, w.dirents)
	n.listed, n.gitignore, n.empty = true, w.names.Has(ignoreFile), len(w.names.Names) == 0 && w.countsAsEmpty(n)
	return err
}

// afterFailure returns the entry of a directory that could not be opened or listed.
func (w *worker) afterFailure(n *node, cause error) (*index.Entry, error) {
	name := append([]byte(n.name), 0)[:len(n.name)]
	st, err := n.parent.handle.Lstat(name)
	switch {
	case err != nil && dir.Classify(err) == dir.Gone, err == nil && dir.Classify(cause) == dir.Gone:
		return nil, nil
	case err == nil && st.Mode != object.Dir && dir.Classify(cause) == dir.Replaced:
		if w.denied(n.parent, n.name, false) {
			w.skip(Skipped{Path: n.path, Reason: index.Denied, Size: st.Stat.Size})
			return &index.Entry{Name: n.name, Mode: st.Mode, Perm: st.Perm, Skip: index.Denied, Stat: st.Stat}, nil
		}
		e, err := w.capture(n.parent, n.name, n.path, st, nil)
		if errors.Is(err, errUnread) {
			w.leave(n.path)
			return nil, nil
		}
		return e, err
	case dir.Classify(cause) == dir.Fatal:
		return nil, cause
	}
	w.skip(Skipped{Path: n.path, Reason: index.Unreadable, Dir: true, Err: cause})
	return &index.Entry{Name: n.name, Mode: object.Dir, Perm: st.Perm, Skip: index.Unreadable, Held: n.trusted}, nil
}
