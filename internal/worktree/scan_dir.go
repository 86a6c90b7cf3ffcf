package worktree

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// worker scans one directory after the other. Its buffers are reused.
type worker struct {
	*scanner
	dirents  []byte
	names    listing
	block    []byte // spare block buffer
	children []*node
	files    int   // since the last directory was done
	surveyed int64 // bytes, likewise
	quick    bool  // see visitPaced
	slow     int   // directories for which it is off
	tree     treeWriter
	content  []byte
}

func (w *worker) run() {
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

// abandon leaves n to closeAll.
func (sc *scanner) abandon(n *node) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.stack = append(sc.stack, n)
}

// scanDir reads one directory:
//
//  1. open it, relative to its parent and not through a symlink
//  2. list and sort the names, and walk them beside the entries of the old block
//  3. a file whose stat matches: copy the old entry; otherwise read it
//  4. a directory: an entry without an id, and a child to scan
//  5. old directories that are no longer there: remove them from the index
//
// The children are pushed only when the block is complete, because they fill in
// their ids in it.
func (w *worker) scanDir(n *node) error {
	n.pending.Store(1)
	if n.prev != nil {
		n.path = n.prev.Path // the copy that the index keeps anyway, for who keeps paths
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
	var old []byte
	if n.prev != nil {
		old = n.prev.Raw
	}
	if err := w.visitPaced(n, old); err != nil {
		w.record(n)
		return err
	}
	w.block = nil // it belongs to n until n is complete
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

// From slowLook a name on, a directory is taken to wait for a disk, and so are as many
// after it as patience says.
const (
	slowLook = 20 * time.Microsecond
	patience = 32
)

// visitPaced is visitAll with quick looks as long as they are quick: a cold cache or a
// mounted network would keep everybody else from running.
func (w *worker) visitPaced(n *node, old []byte) error {
	if w.quick = w.local && w.slow == 0; !w.quick {
		w.slow = max(w.slow-1, 0)
	}
	started := time.Now()
	err := w.visitAll(n, old)
	if time.Since(started) > time.Duration(len(w.names.names)+16)*slowLook {
		w.slow = patience
	}
	return err
}

func (w *worker) look(n *node, name []byte) (fileStat, error) {
	if w.quick {
		return n.handle.lstatQuick(name)
	}
	return n.handle.lstat(name)
}

// visitAll looks at every name of n, or at the hinted ones.
func (w *worker) visitAll(n *node, old []byte) error {
	switch {
	case n.names != nil:
		return w.visitNames(n, old)
	case w.Hints != nil && !n.whole:
		return w.visitHinted(n, old)
	}
	for _, name := range w.names.names {
		var rec index.Record
		rec, old = w.seek(n, old, name)
		if err := w.visit(n, name, rec); err != nil {
			return err
		}
	}
	w.seek(n, old, nil)
	return nil
}

// open opens and lists n. A directory that is gone, replaced or unreadable is a
// fact about its parent: ok is false, and err tells only of what stops the scan.
func (w *worker) open(n *node) (ok bool, err error) {
	if n.handle == nil {
		n.handle, err = n.parent.handle.openDir(n.name)
	}
	if err == nil && w.Enter != nil {
		w.Enter(n.path, n.handle.descriptor())
	}
	if err == nil && n.permLate {
		var perm uint16
		if perm, err = n.handle.perm(); err == nil {
			index.SetPerm(n.parent.block[n.slot:], perm)
		}
	}
	if err == nil {
		if n.names = w.narrowed(n); n.names == nil || !knownNames(n.prev.Raw, n.names) {
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
		w.dirents = make([]byte, direntBuffer)
	}
	err := n.handle.list(&w.names, w.dirents)
	n.listed, n.gitignore, n.empty = true, w.names.has(".gitignore"), len(w.names.names) == 0
	return err
}

// afterFailure decides what a directory is that could not be read as one.
func (w *worker) afterFailure(n *node, cause error) (*index.Entry, error) {
	name := append([]byte(n.name), 0)[:len(n.name)]
	st, err := n.parent.handle.lstat(name)
	switch {
	case err != nil && errKind(err) == failGone, err == nil && errKind(cause) == failGone:
		return nil, nil
	case err == nil && st.mode != object.Dir && errKind(cause) == failReplaced:
		if w.denied(n.parent, n.name, false) {
			w.skip(Skipped{Path: n.path, Reason: index.Denied, Size: st.stat.Size})
			return &index.Entry{Name: n.name, Mode: st.mode, Perm: st.perm, Skip: index.Denied, Stat: st.stat}, nil
		}
		e, err := w.capture(n.parent, n.name, n.path, st, nil)
		if errors.Is(err, errUnread) {
			w.leave(n.path)
			return nil, nil
		}
		return e, err
	case errKind(cause) == failFatal:
		return nil, cause
	}
	w.skip(Skipped{Path: n.path, Reason: index.Unreadable, Dir: true, Err: cause})
	return &index.Entry{Name: n.name, Mode: object.Dir, Perm: st.perm, Skip: index.Unreadable}, nil
}

// seek advances the old entries to name, removing the directories that are passed
// over, and returns the old entry of that name or nil. A nil name means the end.
func (w *worker) seek(n *node, old []byte, name []byte) (rec index.Record, rest []byte) {
	for {
		rec, rest = index.Next(old)
		if rec == nil {
			return nil, nil
		}
		if name != nil {
			if c := bytes.Compare(rec.Name(), name); c == 0 {
				return rec, rest
			} else if c > 0 {
				return nil, old
			}
		}
		w.drop(n, rec)
		old = rest
	}
}

func (sc *scanner) remove(path string) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.removed = append(sc.removed, path)
}

// visit looks at one name and appends its entry to the block of n, if it gets one.
func (w *worker) visit(n *node, name []byte, rec index.Record) error {
	if string(name) == ".git" {
		w.drop(n, rec)
		return nil
	}
	if w.Forget != nil && w.Forget[index.Join(n.path, string(name))] {
		rec = nil
	}
	if w.late.Load() {
		w.leaveName(n, string(name), rec)
		return nil
	}
	if w.visitByKind(n, name, rec) {
		return nil
	}
	st, err := w.look(n, name)
	if err != nil {
		return w.lstatFailed(n, string(name), rec, err)
	}
	switch {
	case st.mode == object.Dir:
		return w.visitDir(n, string(name), rec, st)
	case rec != nil && rec.Skip() == index.Captured && st.mode != 0 && !w.Verify && !w.tooLarge(&st) &&
		rec.Matches(st.mode, st.perm, &st.stat) && !(w.NeverIsNew && w.denied(n, string(name), false)):
		n.block = append(n.block, rec...)
		w.files++
		return nil
	case w.borrow(n, name, rec, &st):
		return nil
	}
	return w.visitFile(n, string(name), rec, st)
}

// visitByKind goes without a look at the name where its kind is enough: for a
// directory that is known, whose bits the open directory tells cheaper, and for what a
// survey only counts.
func (w *worker) visitByKind(n *node, name []byte, rec index.Record) bool {
	switch k := listedKind(name); {
	case k == kindDir && knownDir(rec) && w.Scope == nil && !w.NeverIsNew:
		path := index.Join(n.path, string(name))
		if w.excluded(path) {
			return false
		}
		w.children = append(w.children, &node{
			parent: n, path: path, name: path[len(path)-len(name):], slot: len(n.block), prev: w.Index.Dirs[path],
			wasEmpty: rec.Empty(), whole: n.whole || w.Hints.names(path), permLate: true,
		})
		n.block = append(n.block, rec...)
		return true
	case k == kindFile && w.survey && rec == nil && w.scanner.files.Load() > exactUpTo:
		if path := index.Join(n.path, string(name)); w.visible(n, path, false, 0) && !w.denied(n, string(name), false) {
			w.files++
		}
		return true
	}
	return false
}

// knownDir reports whether an old entry is that of a directory that was captured.
func knownDir(rec index.Record) bool {
	return rec != nil && rec.Mode() == object.Dir && rec.Skip() == index.Captured && (!rec.ID().IsZero() || rec.Empty())
}

func (sc *scanner) tooLarge(st *fileStat) bool {
	return sc.MaxFileSize > 0 && st.stat.Size > sc.MaxFileSize && st.mode != object.Symlink
}

func (w *worker) lstatFailed(n *node, name string, rec index.Record, cause error) error {
	path := index.Join(n.path, name)
	switch errKind(cause) {
	case failGone, failReplaced:
		w.drop(n, rec)
		return nil
	case failUnreadable:
		w.drop(n, rec)
		if !held(rec) && !w.visible(n, path, false, 0) {
			return nil
		}
		w.skip(Skipped{Path: path, Reason: index.Unreadable, Err: cause})
		n.block = index.Append(n.block, &index.Entry{Name: name, Skip: index.Unreadable, Held: held(rec)})
		return nil
	}
	return fmt.Errorf("lstat %s: %w", w.full(path), cause)
}

// drop notes that what an old entry captured is not there any more. Where that was
// a directory, it goes from the index.
func (w *worker) drop(n *node, rec index.Record) {
	if rec == nil {
		return
	}
	w.dropped.Store(true)
	if rec.Mode() == object.Dir {
		w.remove(index.Join(n.path, string(rec.Name())))
	}
}

func (w *worker) visitDir(n *node, name string, rec index.Record, st fileStat) error {
	path := index.Join(n.path, name)
	known := knownDir(rec)
	if w.excluded(path) || !known && !w.visible(n, path, true, 0) {
		w.drop(n, rec)
		return nil
	}
	if object.IsDotGit(name) {
		return w.leaveAlone(n, name, object.Dir, st, index.UnsafeName)
	}
	if w.denied(n, name, true) {
		w.drop(n, rec)
		return w.leaveAlone(n, name, object.Dir, st, index.Denied)
	}
	if known && w.Scope != nil && !w.Scope[path] {
		n.block = append(n.block, rec...)
		return nil
	}
	w.children = append(w.children, &node{
		parent: n, path: path, name: name, slot: len(n.block), prev: w.Index.Dirs[path],
		wasEmpty: rec != nil && rec.Empty(), whole: n.whole || w.Hints.names(path),
	})
	n.block = index.Append(n.block, &index.Entry{Name: name, Mode: object.Dir, Perm: st.perm})
	return nil
}

func (w *worker) visitFile(n *node, name string, rec index.Record, st fileStat) error {
	path := index.Join(n.path, name)
	if rec != nil && rec.Mode() == object.Dir {
		w.drop(n, rec)
		rec = nil
	}
	if !held(rec) && !w.visible(n, path, false, st.stat.Size) {
		return nil
	}
	if object.IsDotGit(name) {
		return w.leaveAlone(n, name, st.mode, st, index.UnsafeName)
	}
	if w.denied(n, name, false) {
		return w.leaveAlone(n, name, st.mode, st, index.Denied)
	}
	e, err := w.capture(n, name, path, st, rec)
	if errors.Is(err, errUnread) {
		w.keepUnread(n, path, rec)
		return nil
	}
	if err != nil || e == nil {
		return err
	}
	n.block = index.Append(n.block, e)
	return nil
}

// leaveAlone records a path that is not even opened because of its name.
func (w *worker) leaveAlone(n *node, name string, mode object.Mode, st fileStat, why index.Skip) error {
	w.skip(Skipped{Path: index.Join(n.path, name), Reason: why, Size: st.stat.Size, Dir: mode == object.Dir})
	n.block = index.Append(n.block, &index.Entry{Name: name, Mode: mode, Perm: st.perm, Skip: why, Stat: st.stat})
	return nil
}

// denied reports whether the name is on the list of what is never captured. What
// lies in a denied directory is never asked about.
func (sc *scanner) denied(n *node, name string, dir bool) bool {
	return sc.Never != nil && sc.Never.Ignored(index.Join(n.path, name), dir)
}

// held reports whether an old entry protects a file from the ignore rules.
func held(rec index.Record) bool {
	return rec != nil && rec.Mode() != object.Dir && (rec.Skip() == index.Captured || rec.Held())
}

func (sc *scanner) skip(s Skipped) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.skipped = append(sc.skipped, s)
}
