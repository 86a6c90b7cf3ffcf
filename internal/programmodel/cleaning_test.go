//go:build unix

package programmodel

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
)

// clean drops old checkpoints by tiny limits. The newest and what is pinned stay.
func (w *world) clean() {
	if len(w.points) == 0 {
		return
	}
	if w.rng.IntN(3) == 0 {
		w.pin()
	}
	v, git := w.look()
	limits := [][]string{
		{"CAIRN_MAX_COUNT=4", "CAIRN_KEEP_LAST=1"}, {"CAIRN_MAX_BYTES=8K", "CAIRN_KEEP_LAST=2"}, {"CAIRN_MAX_AGE=1s", "CAIRN_KEEP_LAST=1"}, nil,
	}
	args := []string{"gc"}
	if w.rng.IntN(2) == 0 {
		args = append(args, "--thorough")
	}
	env := pick(w.rng, limits)
	w.say("%q", env)
	a := w.cairnWith(env, -1, args...)
	w.untouched(v, git, "gc")
	if a.code != 0 {
		w.fail("gc fails", "%d %s", a.code, a.stderr)
	}
	w.forget()
}

func (w *world) pin() {
	name := fmt.Sprint("pin", w.step)
	p := pick(w.rng, w.points)
	if a := w.cairn("pin", p.id, name); a.code != 0 {
		w.fail("pin fails", "%s", a.stderr)
	}
	w.pinned[name] = p.id
}

// forget drops the checkpoints that a cleaning has dropped.
func (w *world) forget() {
	a := w.cairn("log")
	var list []struct{ Checkpoint string }
	w.decode(a, &list)
	there := make(map[string]bool)
	for _, c := range list {
		there[c.Checkpoint] = true
	}
	newest := w.points[len(w.points)-1]
	w.points = slices.DeleteFunc(w.points, func(p *point) bool {
		for name, id := range w.pinned {
			if id != p.id {
				continue
			}
			if w.cairn("ls", id).code != 0 {
				w.fail("lost", "%s, pinned as %s, is gone", id, name)
			}
			return false
		}
		return !there[p.id]
	})
	if len(list) == 0 {
		w.fail("lost", "no checkpoint is left of %s", newest.id)
	}
	for _, g := range w.agents {
		g.unsure = true
	}
}

// killed ends a command at some moment. The next command finishes what was begun, or
// nothing was.
func (w *world) killed() {
	if len(w.points) == 0 {
		w.track()
		return
	}
	v, git := w.look()
	ignored := w.ignored(v)
	known := make(map[string]bool)
	for _, op := range w.operations() {
		known[op.ID] = true
	}
	args, judge := w.victim()
	a := w.cairnWith(nil, time.Duration(w.rng.IntN(14000))*time.Microsecond, args...)
	w.say("killed: %v", a.killed)
	next := pick(w.rng, finishing)
	if a := w.cairn(next...); a.code != 0 && a.code != 3 && !strings.Contains(a.stderr, "nothing to undo") {
		w.fail("not recovered", "%q after %q was killed: %s", next, args, a.stderr)
	}
	now, nowGit := w.look()
	w.sameGit(git, nowGit, "killed "+fmt.Sprint(args))
	for _, op := range w.operations() {
		if known[op.ID] {
			continue
		}
		m := &move{world: w, what: fmt.Sprintf("killed %q", args), before: v, after: now, git: nowGit, ignored: ignored, policy: "merge", killed: true}
		m.res = result{Operation: op.ID, Restored: op.Paths, Kept: op.Kept, Conflicts: op.Conflicts}
		w.judged(m, -1, judge)
		return
	}
	if d := diff(v, now); d != "" {
		w.fail("torn", "killed %q, no operation is recorded, and\n%s", args, d)
	}
}

// finishing are commands that finish what a killed one has begun, and change nothing themselves.
var finishing = [][]string{{"track"}, {"track"}, {"undo", "--operation", "--dry-run"}, {"status"}}

// victim is a command to be killed.
func (w *world) victim() ([]string, func(*move)) {
	switch w.rng.IntN(6) {
	case 0:
		return []string{"track"}, nil
	case 1:
		return []string{"gc", "--thorough"}, nil
	case 2:
		return []string{"undo", "--operation"}, func(m *move) { m.undone(nil) }
	case 3:
		return []string{"redo", "--operation"}, func(m *move) { m.undone(nil) }
	}
	b := w.restoreTo(pick(w.rng, w.points))
	return b.args, b.judge
}

// server starts a server that the commands then ask, or ends it.
func (w *world) server() {
	if w.serving != nil {
		w.stopServer()
		return
	}
	cmd := w.command(program, "serve", w.root)
	out, err := cmd.StdoutPipe()
	w.must(err)
	w.must(cmd.Start())
	w.serving = cmd
	line, err := bufio.NewReader(out).ReadString('\n')
	w.say("serve: %s", strings.TrimSpace(line))
	w.must(err)
	fields := strings.Fields(line)
	w.socket = fields[len(fields)-1]
}

func (w *world) stopServer() {
	if w.serving == nil {
		return
	}
	signal := syscall.SIGTERM
	if w.rng.IntN(2) == 0 {
		signal = syscall.SIGKILL
	}
	w.say("end the server: %v", signal)
	pid := w.serving.Process.Pid
	_ = syscall.Kill(-pid, signal)
	timer := time.AfterFunc(patience, func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
	defer timer.Stop()
	_ = w.serving.Wait()
	w.serving = nil
}

// lastLook ends a history: all that checkpoints hold is there.
func (w *world) lastLook() {
	for _, p := range w.points {
		w.mustStillHold(p)
	}
	w.checkStore()
}
