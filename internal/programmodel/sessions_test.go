//go:build unix

package programmodel

import (
	"fmt"
	"slices"
	"strings"
)

// agent is one of the two that work in the project.
type agent struct {
	name     string
	messages int
	steps    []*agentStep
	open     *agentStep
	reverted bool
	moved    []view // before each way back of the session
	unsure   bool   // a cleaning or a kill may have changed what the session holds
}

// agentStep is what lay on disk around a step.
type agentStep struct {
	message  int
	from, to view
}

// agentGoesOn lets one of two agents begin or end a step.
func (w *world) agentGoesOn() {
	for len(w.agents) < 2 {
		g := &agent{name: fmt.Sprint("agent", len(w.agents))}
		w.agents = append(w.agents, g)
		w.session("begin", g.name)
	}
	g := pick(w.rng, w.agents)
	if g.unsure && w.lostSession(g) {
		return
	}
	if g.open != nil {
		if a := w.session("step", "end", g.name); a.code == 4 {
			g.open = nil // --end-open has ended it
			return
		}
		g.open.to, _ = w.look()
		g.steps = append(g.steps, g.open)
		g.open = nil
		return
	}
	if g.messages == 0 || w.rng.IntN(2) == 0 {
		g.messages++
		w.session("message", g.name, "--message", fmt.Sprint("m", g.messages), "--role", "user", "--prompt", "do it")
	}
	w.session("step", "begin", g.name, "--message", fmt.Sprint("m", g.messages), "--step", fmt.Sprint("s", w.step))
	g.open = &agentStep{message: g.messages}
	g.open.from, _ = w.look()
	g.reverted = false
	w.edit()
}

// lostSession lets an agent begin once more whose session a cleaning has dropped.
func (w *world) lostSession(g *agent) bool {
	if a := w.cairn("session", "show", g.name); a.code != 4 {
		return false
	}
	*g = agent{name: g.name}
	w.session("begin", g.name)
	return true
}

// session runs a command that records: the disk stays as it is.
func (w *world) session(args ...string) answer {
	v, git := w.look()
	a := w.cairn(append([]string{"session"}, args...)...)
	w.untouched(v, git, "session "+args[0])
	if a.code != 0 && a.code != 3 && !strings.Contains(a.stderr, "no step of session") {
		w.fail("session fails", "%q: %d %s", a.args, a.code, a.stderr)
	}
	return a
}

// sessionBack takes back what an agent did, or brings it back.
func (w *world) sessionBack() {
	if len(w.agents) == 0 {
		w.agentGoesOn()
		return
	}
	g := pick(w.rng, w.agents)
	args := []string{"session", pick(w.rng, []string{"undo", "redo", "unrevert"}), g.name}
	if w.rng.IntN(2) == 0 && g.messages > 0 {
		args = []string{"session", "revert", g.name, "--message", fmt.Sprint("m", 1+w.rng.IntN(g.messages))}
	}
	if w.rng.IntN(3) == 0 || w.bold {
		args = append(args, "--end-open")
	}
	m, done := w.sessionMove(g, args)
	if done && strings.Contains(strings.Join(args, " "), "--end-open") {
		for _, g := range w.agents {
			g.endOpen(m.before)
		}
	}
	if !done || m.res.Operation == "" || g.reverted || !strings.Contains(args[1], "revert") || args[1] == "unrevert" {
		g.reverted = g.reverted || done
		return
	}
	g.reverted = true
	if w.rng.IntN(2) > 0 {
		return
	}
	back, done := w.sessionMove(g, []string{"session", "unrevert", g.name})
	if !done {
		back.fail("unrevert refused", "nothing came between")
	}
	back.exactly(m.before, "unrevert")
}

// endOpen notes that a step may have been ended by a command.
func (g *agent) endOpen(v view) {
	if g.open == nil {
		return
	}
	ended := *g.open
	ended.to = v
	g.steps = append(g.steps, &ended)
}

func (w *world) sessionMove(g *agent, args []string) (*move, bool) {
	args, policy := w.withPolicy(args, "merge")
	m, done := w.goBack(wayBack{args: args, session: true, policy: policy, judge: func(m *move) { m.onlyOf(g) }})
	if done {
		g.moved = append(g.moved, m.before)
	}
	return m, done
}

// movedFrom reports whether a way back of the session found a path as it is now.
func (g *agent) movedFrom(path string, is entry) bool {
	return slices.ContainsFunc(g.moved, func(v view) bool { return v[path] == is })
}

// onlyOf fails if a path changed that no step of the agent had changed.
func (m *move) onlyOf(g *agent) {
	steps := g.steps
	if g.open != nil {
		last := *g.open
		last.to = m.before
		steps = append(steps[:len(steps):len(steps)], &last)
	}
	for _, path := range paths(m.before, m.after) {
		was, is := m.before[path], m.after[path]
		if was == is || g.unsure {
			continue
		}
		concerned := func(path string) bool {
			return slices.ContainsFunc(steps, func(s *agentStep) bool { return s.from[path] != s.to[path] })
		}
		if concerned(path) || m.givesWay(path, concerned) {
			continue
		}
		if g.movedFrom(path, is) {
			continue // an earlier way back of the session has changed it
		}
		m.fail("not concerned", "%q was %v and is %v, and no step of %s changed it", path, was, is, g.name)
	}
}

// givesWay reports whether a path changed for others that came back: it is a directory that
// they need, made where nothing stood or, with overwrite, in another thing's place, or it
// lay in a directory that overwrite took for a file.
func (m *move) givesWay(path string, cameBack func(path string) bool) bool {
	was, is := m.before[path], m.after[path]
	overwrite := m.policy == "overwrite"
	if is.kind == 'd' && (was.kind == 0 || overwrite && was.kind != 'd') && m.after.holds(path) {
		return true
	}
	for at := dirOf(path); overwrite && is.kind == 0 && at != ""; at = dirOf(at) {
		if k := m.after[at].kind; k != 0 && k != 'd' && m.before[at].kind == 'd' && cameBack(at) {
			return true
		}
	}
	return false
}
