//go:build unix

package programmodel

import "slices"

// scope is the paths that a command was narrowed down to; none means all.
type scope []string

func (s scope) covers(path string) bool {
	return len(s) == 0 || slices.ContainsFunc(s, func(p string) bool { return p == path || isBelow(path, p) })
}

func (s scope) leads(path string) bool {
	return slices.ContainsFunc(s, func(p string) bool { return isBelow(p, path) })
}

// restore goes to a checkpoint in one of the ways that there are.
func (w *world) restore() {
	if len(w.points) == 0 {
		w.track()
		return
	}
	p := pick(w.rng, w.points)
	w.goBack(w.restoreTo(p))
}

func (w *world) restoreTo(p *point) wayBack {
	verb := "restore"
	keepNew := w.rng.IntN(4) == 0
	if w.rng.IntN(4) == 0 {
		verb, keepNew = "revert", false
	}
	args := []string{verb, p.id}
	if keepNew {
		args = append(args, "--keep-new")
	}
	narrow := w.someScope(p)
	if len(narrow) > 0 {
		args = append(args, "--")
		args = append(args, narrow...)
	}
	return wayBack{args: args, judge: func(m *move) { m.restored(p, narrow, keepNew) }}
}

// someScope is a path or two that either side knows, or nothing.
func (w *world) someScope(p *point) scope {
	if w.rng.IntN(3) > 0 {
		return nil
	}
	known := paths(p.held)
	if len(known) == 0 {
		return nil
	}
	s := scope{pick(w.rng, known)}
	if w.rng.IntN(3) == 0 {
		s = append(s, pick(w.rng, known))
	}
	return s
}

// restored holds the disk against a checkpoint, path by path.
func (m *move) restored(p *point, narrow scope, keepNew bool) {
	for _, path := range paths(p.disk, m.before, m.after) {
		switch {
		case narrow.covers(path):
			m.restoredPath(p, path, keepNew)
		case !m.mayChange(p, path, narrow):
			m.fail("out of scope", "%q was %v and is %v", path, m.before[path], m.after[path])
		}
	}
}

// restoredPath holds a path that a restore was about against a checkpoint.
func (m *move) restoredPath(p *point, path string, keepNew bool) {
	want, isHeld := p.held[path]
	switch {
	case isHeld:
		if m.after[path] != want && !m.explained(path) {
			if want.kind == 'd' && m.after[path].kind == 'd' {
				m.fail("directory bits", "%q is %v, not %v (before: %v)", path, m.after[path], want, m.before[path])
			}
			m.fail("not restored", "%q is %v, not %v (before: %v)", path, m.after[path], want, m.before[path])
		}
	case p.disk[path].kind != 0:
		if p.disk[path].kind == 'd' && m.before[path].kind != 'd' && m.after[path].kind == 0 {
			return // what stands where a directory was is new
		}
		if m.after[path] != m.before[path] && m.after[path] != p.disk[path] {
			m.fail("guessed", "%q was there without being held: %v, was %v, is %v", path, p.disk[path], m.before[path], m.after[path])
		}
	case m.after[path].kind != 0 && m.after[path] != m.before[path]:
		m.fail("made up", "%q is %v, was %v, and the checkpoint has nothing there", path, m.after[path], m.before[path])
	case keepNew:
		if m.after[path] != m.before[path] && !inTheWay(p.held, path) {
			m.fail("new and gone", "%q was %v and is %v", path, m.before[path], m.after[path])
		}
	case m.after[path].kind != 0:
		m.mustNotStay(p, path)
	}
}

// inTheWay reports whether a view has something else at a path, or above it.
func inTheWay(v view, path string) bool {
	if v[path].kind != 0 {
		return true
	}
	for at := dirOf(path); at != ""; at = dirOf(at) {
		if k := v[at].kind; k != 0 && k != 'd' {
			return true
		}
	}
	return false
}

// mustNotStay is for what came after the checkpoint: it is ignored, or listed, or a
// directory that holds such a thing.
func (m *move) mustNotStay(p *point, path string) {
	e := m.after[path]
	if m.closedTo(m.before, path) && p.wasClosed(path) {
		return // the directory was listed at both times
	}
	if m.ignored[path] || m.explained(path) || e.kind == 'd' && m.holds(path) {
		return
	}
	m.fail("new and stays", "%q is %v; it is listed nowhere", path, e)
}

// wasClosed reports whether something at or above a path was there without being held.
func (p *point) wasClosed(path string) bool {
	for at := path; at != ""; at = dirOf(at) {
		if _, held := p.held[at]; !held && p.disk[at].kind != 0 {
			return true
		}
	}
	return false
}

// mayChange reports whether a path that a restore was not about may be as it is. What the
// restored paths need above them is made, and what they leave empty goes.
func (m *move) mayChange(p *point, path string, narrow scope) bool {
	was, is := m.before[path], m.after[path]
	if was == is {
		return true
	}
	if narrow.leads(path) {
		if is.kind == 'd' && p.held[path].kind == 'd' && (was.kind != 'd' || was.perm == is.perm) {
			return true
		}
		if was.kind == 'd' && is.kind == 0 && p.disk[path].kind != 'd' {
			return true
		}
	}
	for at := dirOf(path); at != ""; at = dirOf(at) {
		if narrow.leads(at) && p.held[at].kind == 'd' && m.before[at].kind != 'd' {
			return true
		}
	}
	return false
}
