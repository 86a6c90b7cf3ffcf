//go:build unix

package programmodel

import (
	"io/fs"
	"os"
	"slices"
)

// state is one end of a take-back: the paths that are known to have existed, and those
// that existed without being captured.
type state struct {
	known   view
	unknown map[string]bool
	disk    view
}

func (p *point) state() state {
	s := state{p.held, make(map[string]bool), p.disk}
	for path := range p.disk {
		if _, ok := p.held[path]; !ok {
			s.unknown[path] = true
		}
	}
	return s
}

var policies = []string{"merge", "overwrite", "keep", "fail"}

// withPolicy adds a policy to a command, most of the time.
func (w *world) withPolicy(args []string, fallback string) ([]string, string) {
	if w.bold && w.rng.IntN(3) > 0 {
		return append(args, "--on-conflict", "overwrite"), "overwrite"
	}
	if w.rng.IntN(3) > 0 {
		return args, fallback
	}
	policy := pick(w.rng, policies)
	return append(args, "--on-conflict", policy), policy
}

// revertRange takes back what changed between two checkpoints.
func (w *world) revertRange() {
	if len(w.points) < 2 {
		w.track()
		return
	}
	a, b := pick(w.rng, w.points), pick(w.rng, w.points)
	args, policy := w.withPolicy([]string{"revert", a.id + ".." + b.id}, "merge")
	w.goBack(wayBack{args: args, policy: policy, judge: func(m *move) { m.takenBack(a.state(), b.state(), nil) }})
}

// undo takes back the last operation.
func (w *world) undo() { w.again("undo") }

// redo takes back the last undo.
func (w *world) redo() { w.again("redo") }

func (w *world) again(verb string) (*move, bool) {
	args, policy := w.withPolicy([]string{verb, "--operation"}, "merge")
	var narrow scope
	if w.rng.IntN(6) == 0 {
		if path := w.anyPath(); path != "" {
			narrow = scope{path}
			args = append(args, "--", path)
		}
	}
	return w.goBack(wayBack{args: args, policy: policy, judge: func(m *move) { m.undone(narrow) }})
}

// undone finds out which operation was taken back, and judges that.
func (m *move) undone(narrow scope) {
	if m.res.Operation == "" {
		return
	}
	for _, op := range m.operations() {
		if op.ID != m.res.Operation {
			continue
		}
		if known := m.ops[op.Undoes]; known != nil {
			m.spared = known.takenBack
			m.takenBack(state{known: known.before}, state{known: known.after}, narrow)
			m.noteTakenBack(known, narrow)
		}
		return
	}
}

// noteTakenBack notes which paths of an operation the next undo leaves alone. To take back
// an operation that did so is the reverse.
func (m *move) noteTakenBack(known *operation, narrow scope) {
	m.forward, m.back = known.back, known.forward
	if len(narrow) > 0 {
		m.forward = func() { known.takenBack = append(known.takenBack, narrow...) }
		m.back = func() {
			known.takenBack = slices.DeleteFunc(known.takenBack, func(p string) bool { return slices.Contains(narrow, p) })
		}
	}
	if m.forward != nil {
		m.forward()
	}
}

// takenBack holds the disk against the way from b back to a.
func (m *move) takenBack(a, b state, narrow scope) {
	for _, path := range paths(a.known, b.known, m.before, m.after) {
		was, is := m.before[path], m.after[path]
		from, to := a.known[path], b.known[path]
		switch {
		case len(m.spared) > 0 && m.spared.covers(path):
			if was.kind != 'd' && is.kind != 'd' && was != is && !aboveChanged(paths(a.known, b.known), path) {
				m.fail("taken back again", "%q was %v and is %v", path, was, is)
			}
		case !narrow.covers(path) && !narrow.leads(path):
			if was != is && !aboveChanged(narrow, path) {
				m.fail("out of scope", "%q was %v and is %v", path, was, is)
			}
		case !narrow.covers(path):
		case a.unknown[path] || b.unknown[path]:
			if a.disk[path].kind == 'd' && was.kind != 'd' && is.kind == 0 {
				continue // what stands where a directory was is new
			}
			if was != is && is != from && is != a.disk[path] {
				m.fail("guessed", "%q was %v, is %v; it was there without being held", path, was, is)
			}
			if was.kind != 0 && is.kind == 0 && a.unknown[path] {
				m.fail("guessed", "%q was %v, is gone; it was there without being held", path, was)
			}
		case from == to:
			m.notConcerned(a.known, path, from)
		case was == is && is == from:
		case was == to:
			m.mustBe(path, from)
		case was == from:
			neededDir := was.kind == 0 && is.kind == 'd' && m.after.holds(path)
			if is != was && !neededDir {
				m.fail("taken back twice", "%q was %v already and is %v", path, was, is)
			}
		default:
			m.changedSince(path, from, to)
		}
	}
}

// aboveChanged: a file in the way of a path in scope may go.
func aboveChanged(narrow scope, path string) bool {
	return slices.ContainsFunc(narrow, func(p string) bool { return isBelow(path, p) })
}

// notConcerned judges a path that is the same at both ends. Overwrite takes what stands
// in the way of what comes back.
func (m *move) notConcerned(from view, path string, end entry) {
	was, is := m.before[path], m.after[path]
	if was == is {
		return
	}
	cameBack := func(at string) bool { return m.after[at] == from[at] }
	if (end.kind == 'd' || m.after[path].kind == 0) && m.givesWay(path, cameBack) {
		return
	}
	m.fail("not concerned", "%q is %v at both ends, was %v and is %v", path, end, was, is)
}

// mustBe judges a path that nothing has changed since.
func (m *move) mustBe(path string, want entry) {
	is := m.after[path]
	if is == want || m.explained(path) {
		return
	}
	if want.kind == 0 && is.kind == 'd' && m.holds(path) {
		return // it holds later work
	}
	m.fail("not taken back", "%q is %v, not %v (before: %v)", path, is, want, m.before[path])
}

// changedSince judges a path by the policy.
func (m *move) changedSince(path string, from, to entry) {
	was, is := m.before[path], m.after[path]
	stays := is == was && m.explained(path)
	switch {
	case is == from && m.policy == "overwrite", stays:
	case is == was && was.kind == 'd' && from.kind != to.kind: // a directory that others need, or have removed
	case is == was && to.kind == 'd' && from.kind == 0: // removed since, and perhaps something else made
	case is == was && was.kind == 0 && to.kind == 'd': // removed since: it need not go
	case is == from && was.kind == 0 && (from.kind == 'd' || to.kind == 'd'): // nothing stands in its way
	case m.policy == "overwrite" && from.kind == 0 && is.kind == 'd' && m.after.holds(path):
	case m.policy == "merge" && was.kind == 'f' && is.kind == 'f' && m.merges(path, from, to):
	case m.policy == "merge" && was.kind == 'd' && is.kind == 'd' && from.kind == 'd' && is.perm == from.perm && was.perm == to.perm:
	default:
		m.fail("later work", "%q went from %v to %v, later was %v, and is %v under %s", path, from, to, was, is, m.policy)
	}
}

// merges reports whether a file is the merge of what was on disk and what came back,
// each bit by itself and contents by themselves. git merges contents that both sides changed.
func (m *move) merges(path string, from, to entry) bool {
	was, is := m.before[path], m.after[path]
	if from.kind != 'f' || to.kind != 'f' || is.perm != mergedBits(was.perm, to.perm, from.perm) {
		return false
	}
	if was.data == to.data || from.data == to.data || was.data == from.data {
		return is.data == merged(was.data, to.data, from.data)
	}
	names := []string{"ours", "base", "theirs"}
	for i, text := range []string{was.data, to.data, from.data} {
		names[i] = m.base + "/" + names[i]
		m.must(os.WriteFile(names[i], []byte(text), 0o644))
	}
	cmd := m.command("git", "merge-file", "-p", names[0], names[1], names[2])
	out, err := cmd.Output()
	return err == nil && string(out) == is.data
}

// mergedBits has each bit from a side that differs from the base there.
func mergedBits(ours, base, theirs fs.FileMode) fs.FileMode {
	return base ^ ((ours ^ base) | (theirs ^ base))
}

// merged is the side that differs from the base; ours where both do.
func merged[T comparable](ours, base, theirs T) T {
	if ours == base {
		return theirs
	}
	return ours
}

// thereAndBack goes to a checkpoint, takes that back and does it again, with nothing
// between: each has to be exact but for what it lists.
func (w *world) thereAndBack() {
	if len(w.points) == 0 {
		w.track()
		return
	}
	m, done := w.goBack(w.restoreTo(pick(w.rng, w.points)))
	if !done || m.res.Operation == "" {
		return
	}
	back, done := w.goBack(wayBack{args: []string{"undo", "--operation"}, policy: "merge", judge: func(u *move) { u.undone(nil) }})
	if !done {
		back.fail("undo refused", "nothing came between")
	}
	back.exactly(m.before, "undo")
	if back.res.Operation == "" {
		return
	}
	again, done := w.goBack(wayBack{args: []string{"redo", "--operation"}, policy: "merge", judge: func(u *move) { u.undone(nil) }})
	if !done {
		again.fail("redo refused", "nothing came between")
	}
	again.exactly(m.after, "redo")
}

// exactly fails unless the disk is as in a view, but for listed paths.
func (m *move) exactly(want view, what string) {
	for _, path := range paths(want, m.after) {
		if want[path] != m.after[path] && !m.explained(path) {
			m.fail(what+" inexact", "%q is %v, was %v (before the %s: %v)", path, m.after[path], want[path], what, m.before[path])
		}
	}
}
