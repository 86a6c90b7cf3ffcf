package scan

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// seek advances the old entries to name, drops those before it, and returns the old entry of name
// or nil. A nil name means the end.
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

// visit scans one name and appends its entry, if any, to the block of n.
func (w *worker) visit(n *node, name []byte, rec index.Record) error {
	if string(name) == ".git" {
		if w.OnGit != nil && n.path != "" {
			w.OnGit(n.path)
		}
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
	st, err := w.lstat(n, name)
	return w.visitWithStat(n, name, rec, st, err)
}

// visitWithStat continues with the result of the lstat.
func (w *worker) visitWithStat(n *node, name []byte, rec index.Record, st dir.Info, err error) error {
	switch {
	case err != nil:
		return w.lstatFailed(n, string(name), rec, err)
	case st.Mode == object.Dir:
		return w.visitDir(n, string(name), rec, st)
	case w.isAsRecorded(rec, &st) && !w.Verify && !(w.NeverIsNew && w.denied(n, string(name), false)):
		n.block = append(n.block, rec...)
		w.files++
		return nil
	case st.Mode != object.Dir && isTemp(name):
		w.drop(n, rec)
		return nil
	case w.borrow(n, name, rec, &st):
		return nil
	}
	return w.visitFile(n, string(name), rec, st)
}

// isAsRecorded reports whether a file or symlink matches its captured entry.
func (sc *scanner) isAsRecorded(rec index.Record, st *dir.Info) bool {
	return rec != nil && rec.Skip() == index.Captured && rec.Matches(st.Mode, st.Perm, &st.Stat) &&
		st.Mode != object.Dir && st.Mode != 0 && !sc.tooLarge(st) && !isTemp(rec.Name())
}

// isTemp reports whether a file's name is that of a temporary file of cairn, which no capture holds: a directory
// that lets nothing be removed keeps those of a refused operation, and none can be brought back.
func isTemp(name []byte) bool { return name[0] == '.' && dir.IsTempName(string(name)) }

// visitByKind handles a name without an lstat if its kind is enough: a known directory, whose
// permission bits come cheaper from its open handle, and a name that a survey only counts.
func (w *worker) visitByKind(n *node, name []byte, rec index.Record) bool {
	switch k := dir.KindOf(name); {
	case k == dir.KindDir && knownDir(rec) && w.Scope == nil && !w.NeverIsNew:
		path, room := n.join(string(name))
		if w.excluded(path) {
			return false
		}
		w.enterKnown(n, path, room, rec, len(n.block))
		n.appendOld(rec)
		return true
	case k == dir.KindFile && w.survey && rec == nil && w.scanner.files.Load() > exactUpTo:
		if path := index.Join(n.path, string(name)); w.visible(n, path, false) && !w.denied(n, string(name), false) {
			w.files++
		}
		return true
	}
	return false
}

// enterKnown adds a known directory to the scan. Its entry is the old one.
func (w *worker) enterKnown(n *node, path string, room []byte, rec index.Record, slot int) {
	c := w.enter(n, path, room, slot, rec.Perm())
	c.entry, c.wasEmpty, c.trusted = rec, rec.Empty(), true
}

// enter adds a directory in n to the scan.
func (w *worker) enter(n *node, path string, room []byte, slot int, perm uint16) *node {
	_, name := index.Split(path)
	c := &node{
		parent: n, path: path, room: room, name: name, slot: slot, prev: w.Index.Dirs[path],
		at: dir.HandleInfo{Perm: perm}, whole: n.whole || w.Hints.names(path),
	}
	w.children = append(w.children, c)
	return c
}

// knownDir reports whether an old entry is a captured directory.
func knownDir(rec index.Record) bool {
	return rec != nil && rec.Mode() == object.Dir && rec.Skip() == index.Captured && (!rec.ID().IsZero() || rec.Empty())
}

// heldDir reports whether an old entry is a directory that was captured before it became unreadable.
func heldDir(rec index.Record) bool { return rec != nil && rec.Mode() == object.Dir && rec.Held() }

// protectsBelow reports whether no ignore rule may drop a directory: the index has a held file or a
// captured directory below it, or the last scan could not read it. A directory has no tree
// where the only held file below it is too large, and where all directories in it are empty.
func (w *worker) protectsBelow(path string, rec index.Record) bool {
	if rec == nil || rec.Mode() != object.Dir {
		return false
	}
	if rec.Held() {
		return true
	}
	if rec.Skip() != index.Captured || w.Index.Dirs[path] == nil {
		return false
	}
	for child := range w.Index.Dirs[path].All {
		if child.Held() || knownDir(child) || w.protectsBelow(index.Join(path, string(child.Name())), child) {
			return true
		}
	}
	return false
}

func (sc *scanner) tooLarge(st *dir.Info) bool {
	return sc.MaxFileSize > 0 && st.Stat.Size > sc.MaxFileSize && st.Mode != object.Symlink
}

func (w *worker) lstatFailed(n *node, name string, rec index.Record, cause error) error {
	path := index.Join(n.path, name)
	n.leaky = true
	switch dir.Classify(cause) {
	case dir.Gone, dir.Replaced:
		w.drop(n, rec)
		return nil
	case dir.Unreadable:
		w.drop(n, rec)
		if !protected(rec) && !w.visible(n, path, false) {
			if name == ignoreFile && !n.ignored {
				n.block = index.Append(n.block, &index.Entry{Name: name, Skip: index.Rules})
			}
			return nil
		}
		w.skip(Skipped{Path: path, Reason: index.Unreadable, Err: cause})
		n.block = index.Append(n.block, &index.Entry{Name: name, Skip: index.Unreadable, Held: protected(rec)})
		return nil
	}
	return fmt.Errorf("lstat %s: %w", w.full(path), cause)
}

// drop records that a captured path is gone. A directory is removed from the index.
func (w *worker) drop(n *node, rec index.Record) {
	if rec == nil {
		return
	}
	w.dropped.Store(true)
	if rec.Mode() == object.Dir {
		w.remove(index.Join(n.path, string(rec.Name())))
	}
}

func (w *worker) visitDir(n *node, name string, rec index.Record, st dir.Info) error {
	path, room := n.join(name)
	known, excluded := knownDir(rec), w.excluded(path)
	trusted := known || heldDir(rec) || !w.visible(n, path, true)
	if excluded || trusted && !known && !w.protectsBelow(path, rec) {
		n.leaky = n.leaky || excluded
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
	c := w.enter(n, path, room, len(n.block), st.Perm)
	c.wasEmpty, c.trusted = rec != nil && rec.Empty(), trusted
	n.block = index.Append(n.block, &index.Entry{Name: name, Mode: object.Dir, Perm: st.Perm})
	return nil
}

func (w *worker) visitFile(n *node, name string, rec index.Record, st dir.Info) error {
	path := index.Join(n.path, name)
	if rec != nil && rec.Mode() == object.Dir {
		w.drop(n, rec)
		rec = nil
	}
	if !protected(rec) && !w.visible(n, path, false) {
		w.passOver(n, name, st)
		return nil
	}
	if object.IsDotGit(name) {
		return w.leaveAlone(n, name, st.Mode, st, index.UnsafeName)
	}
	if w.denied(n, name, false) {
		return w.leaveAlone(n, name, st.Mode, st, index.Denied)
	}
	if w.tooLargeToInclude(n, path, &st, rec) {
		return w.leaveAlone(n, name, st.Mode, st, index.TooLarge)
	}
	e, err := w.capture(n, name, path, st, rec)
	if errors.Is(err, errUnread) {
		w.appendUnread(n, path, rec)
		return nil
	}
	if err != nil || e == nil {
		n.leaky = true // the file is gone
		return err
	}
	w.nameRules(n, e)
	n.block = index.Append(n.block, e)
	return nil
}

// leaveAlone records a path that is not opened because of its name, a deny rule or its size.
func (w *worker) leaveAlone(n *node, name string, mode object.Mode, st dir.Info, why index.Skip) error {
	w.skip(Skipped{Path: index.Join(n.path, name), Reason: why, Size: st.Stat.Size, Dir: mode == object.Dir})
	n.block = index.Append(n.block, &index.Entry{Name: name, Mode: mode, Perm: st.Perm, Skip: why, Stat: st.Stat})
	return nil
}

// denied reports whether the deny list covers the name. Paths inside a denied directory are not
// checked.
func (sc *scanner) denied(n *node, name string, dir bool) bool {
	return sc.Never != nil && sc.Never.Ignored(index.Join(n.path, name), dir)
}

// protected reports whether an old entry protects a file from the ignore rules.
func protected(rec index.Record) bool {
	return rec != nil && rec.Mode() != object.Dir && (rec.Skip() == index.Captured || rec.Held())
}

func (sc *scanner) skip(s Skipped) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.skipped = append(sc.skipped, s)
}
