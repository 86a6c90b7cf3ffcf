//go:build unix

package programmodel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// shownFile is a changed file as a diff shows it.
type shownFile struct {
	File          pathtext.Text
	Before, After string
	Status, Note  string
	Hunks         []shownHunk

	chosen map[string]bool // names of hunks
}

type shownHunk struct {
	ID       string
	NewStart int
	NewLines int
	Lines    []string
	Whole    bool
}

// hunkChoice is hunks that go back, by path.
type hunkChoice struct {
	ids   []string
	files map[string]*shownFile
	added map[string]bool // files that the diff adds, chosen or not
}

func (c *hunkChoice) paths() (s scope) {
	for path := range c.files {
		s = append(s, path)
	}
	slices.Sort(s)
	return s
}

// chooseHunks asks for a diff and picks some of its hunks.
func (w *world) chooseHunks(args ...string) *hunkChoice {
	v, git := w.look()
	a := w.cairn(args...)
	w.untouched(v, git, args[0])
	if a.code != 0 {
		return nil
	}
	var files []shownFile
	w.decode(a, &files)
	c := &hunkChoice{files: make(map[string]*shownFile), added: make(map[string]bool)}
	for i := range files {
		f := &files[i]
		c.added[string(f.File)] = f.Status == "added"
		if w.rng.IntN(2) > 0 {
			continue
		}
		for _, h := range f.Hunks {
			if w.rng.IntN(3) == 0 {
				continue
			}
			if f.chosen == nil {
				f.chosen = make(map[string]bool)
				c.files[string(f.File)] = f
			}
			f.chosen[h.ID] = true
			c.ids = append(c.ids, h.ID)
		}
	}
	if len(c.ids) == 0 {
		return nil
	}
	return c
}

// comesBackAbove reports whether a file comes back above a path.
func (c *hunkChoice) comesBackAbove(path string) bool {
	for at := dirOf(path); at != ""; at = dirOf(at) {
		if f := c.files[at]; f != nil && f.Status != "added" {
			return true
		}
	}
	return false
}

// goesAbove reports whether a file goes that stands above a path, in the place of a directory.
func (c *hunkChoice) goesAbove(path string) bool {
	for at := dirOf(path); at != ""; at = dirOf(at) {
		if f := c.files[at]; f != nil && f.Status == "added" {
			return true
		}
	}
	return false
}

// whole reports whether all hunks of the file go back.
func (f *shownFile) whole() bool { return len(f.chosen) == len(f.Hunks) }

// bits reports whether a change of permission bits goes back.
func (f *shownFile) bits() bool {
	return slices.ContainsFunc(f.Hunks, func(h shownHunk) bool { return h.Whole && f.chosen[h.ID] })
}

// ofLines reports whether the file changed in its lines alone.
func (f *shownFile) ofLines() bool {
	return f.Note == "" && f.Status == "modified" && !slices.ContainsFunc(f.Hunks, func(h shownHunk) bool { return h.Whole })
}

// without is the text after the change without the chosen hunks, line by line.
func (f *shownFile) without() string {
	now := strings.SplitAfter(f.After, "\n")
	added := make(map[int]bool)
	removed := make(map[int]string) // before a line of the new text
	for _, h := range f.Hunks {
		if !f.chosen[h.ID] || h.Whole {
			continue
		}
		at := h.NewStart - 1
		if h.NewLines == 0 {
			at++
		}
		for i, line := range h.Lines {
			text := line[1:] + "\n"
			if i+1 < len(h.Lines) && h.Lines[i+1][0] == '\\' {
				text = line[1:]
			}
			switch line[0] {
			case '-':
				removed[at] += text
			case '+':
				added[at] = true
				at++
			case ' ':
				at++
			}
		}
	}
	var out strings.Builder
	for i, line := range now {
		out.WriteString(removed[i])
		if !added[i] {
			out.WriteString(line)
		}
	}
	out.WriteString(removed[len(now)])
	return out.String()
}

// revertHunks takes some hunks between two checkpoints back.
func (w *world) revertHunks() {
	if len(w.points) < 2 {
		w.track()
		return
	}
	a, b := pick(w.rng, w.points), pick(w.rng, w.points)
	c := w.chooseHunks("diff", a.id, b.id)
	if c == nil {
		return
	}
	args, policy := w.withPolicy([]string{"revert", a.id + ".." + b.id, "--hunk", strings.Join(c.ids, ",")}, "merge")
	m, done := w.goBack(wayBack{args: args, policy: policy, judge: func(m *move) {
		from, to := a.state(), b.state()
		known := make(view, len(to.known))
		for path, e := range to.known { // nothing else goes back, except what stands in the way
			if !c.comesBackAbove(path) {
				known[path] = e
			}
		}
		for path, f := range c.files {
			e := to.known[path]
			if e.data = f.without(); f.bits() {
				e.perm = from.known[path].perm
			}
			if f.whole() {
				e = from.known[path]
			}
			if e.kind == 'd' { // the rest of it comes back with its files
				hollow := from.known.hollow(path)
				maps.Copy(known, hollow)
				e = hollow[path]
			}
			known[path] = e
		}
		for path := range c.files { // with the directories that they need
			for at := dirOf(path); known[path].kind != 0 && at != ""; at = dirOf(at) {
				if from.known[at].kind == 'd' && to.known[at].kind != 'd' {
					known[at] = from.known[at]
				}
			}
		}
		from.known = known
		m.takenBack(from, to, c.paths())
	}})
	w.backAgain(m, done)
}

// backAgain undoes an operation, half of the time.
func (w *world) backAgain(m *move, done bool) {
	if !done || m.res.Operation == "" || w.rng.IntN(2) == 0 {
		return
	}
	back, done := w.goBack(wayBack{args: []string{"undo", "--operation"}, policy: "merge", judge: func(u *move) { u.undone(nil) }})
	if !done {
		back.fail("undo refused", "nothing came between")
	}
	back.exactly(m.before, "undo")
}

// revertSessionHunks takes some hunks of an agent's turn, or of all of its turns, back.
func (w *world) revertSessionHunks() {
	if len(w.agents) == 0 {
		w.agentGoesOn()
		return
	}
	g := pick(w.rng, w.agents)
	var of []string
	if g.messages > 0 && w.rng.IntN(3) > 0 {
		of = []string{"--turn", fmt.Sprint(1 + w.rng.IntN(g.messages))}
	}
	c := w.chooseHunks(slices.Concat([]string{"session", "diff"}, of, []string{g.name})...)
	if c == nil {
		return
	}
	args := slices.Concat([]string{"session", "revert"}, of, []string{"--hunk", strings.Join(c.ids, ","), g.name})
	args, policy := w.withPolicy(args, "merge")
	m, done := w.goBack(wayBack{args: args, session: true, policy: policy, judge: func(m *move) { m.hunksOf(g, c) }})
	w.backAgain(m, done)
}

// hunksOf holds each path against the chosen hunks. What a file without lines was is known from the
// steps of the agent.
func (m *move) hunksOf(g *agent, c *hunkChoice) {
	chosen := c.paths()
	for _, path := range paths(m.before, m.after) {
		was, is := m.before[path], m.after[path]
		f := c.files[path]
		switch {
		case f != nil && strings.ContainsRune(f.Before+f.After, utf8.RuneError): // JSON does not have its bytes
		case f != nil && f.ofLines():
			m.linesBack(path, f)
		case was == is:
		case f != nil:
			m.wholeBack(g, path, f)
		case chosen.leads(path) && (was.kind == 'd' || is.kind == 'd' || m.policy == "overwrite"):
		case chosen.covers(path) && (m.policy == "overwrite" || c.added[path] && is.kind == 0):
		case c.goesAbove(path) && is.kind == 'd' && slices.ContainsFunc(g.steps, func(s *agentStep) bool { return s.from[path] == is }):
		default:
			m.fail("not chosen", "%q was %v and is %v", path, was, is)
		}
	}
}

// linesBack judges a file of which some lines go back.
func (m *move) linesBack(path string, f *shownFile) {
	was, is, want := m.before[path], m.after[path], f.without()
	to, from := was, was
	to.data, from.data = f.After, want
	switch {
	case was == is && (m.explained(path) || was.data == want || want == f.After):
	case m.policy == "overwrite" && is.kind == 'f' && is.data == want:
	case was.kind != 'f' || is.kind != 'f' || is.perm != was.perm:
		m.fail("hunks", "%q was %v and is %v", path, was, is)
	case was.data == f.After && is.data == want:
	case m.policy == "merge" && m.merges(path, from, to):
	default:
		m.fail("hunks", "%q: after the steps %q, without the hunks %q; it was %v and is %v under %s", path, f.After, want, was, is, m.policy)
	}
}

// wholeBack judges a file that changed otherwise.
func (m *move) wholeBack(g *agent, path string, f *shownFile) {
	is := m.after[path]
	steps := g.steps
	if slices.ContainsFunc(steps, func(s *agentStep) bool {
		from := s.from[path]
		return from.kind == is.kind && from.data == is.data || from.kind == 'd' && is.kind == 0
	}) {
		return
	}
	if f.Note == "" && is.kind == 'f' || is.kind == 'd' && m.after.holds(path) {
		return // bits and lines, which another change may have joined
	}
	if !g.unsure {
		m.fail("hunks", "%q was %v and is %v, which it was before no step of %s", path, m.before[path], is, g.name)
	}
}
