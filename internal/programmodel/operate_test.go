//go:build unix

package programmodel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// result is what a way back answers.
type result struct {
	Operation string          `json:"operation"`
	Restored  []pathtext.Text `json:"restored"`
	Deleted   []pathtext.Text `json:"deleted"`
	Kept      []pathReason    `json:"kept"`
	Conflicts []pathReason    `json:"conflicts"`
	PlanID    string          `json:"planID"`
}

func (r *result) listed() []string { return listedPaths(r.Kept, r.Conflicts) }

func (r *result) changed() []string {
	return slices.Sorted(slices.Values(append(pathtext.Plain(r.Restored), pathtext.Plain(r.Deleted)...)))
}

// operation is a way back that was carried out.
type operation struct {
	id            string
	before, after view
	takenBack     scope  // paths that narrowed undos have taken back already
	forward, back func() // what the operation did to the takenBack of others
}

// wayBack is a command that goes back, and how to judge it.
type wayBack struct {
	args    []string
	session bool   // the result is one of its fields
	policy  string // "" where there is none
	judge   func(m *move)
}

// move is what a way back did.
type move struct {
	*world
	what          string
	before, after view
	git           map[string]string // git's own files, after
	ignored       map[string]bool   // before
	res           result
	policy        string
	forward, back func() // see operation
	spared        scope  // what an earlier undo has taken back
	killed        bool   // and finished by a later command
}

func (m *move) explained(path string) bool { return explained(path, m.res.listed()) }

// fail says which command broke a promise.
func (m *move) fail(rule, format string, args ...any) {
	m.world.fail(rule, "%s: %s", m.what, fmt.Sprintf(format, args...))
}

// goBack carries out a way back and judges it. It reports whether it was done.
func (w *world) goBack(b wayBack) (m *move, done bool) {
	v, git := w.look()
	m = &move{world: w, what: fmt.Sprintf("%q", b.args), before: v, ignored: w.ignored(v), policy: b.policy}
	args := b.args
	planned := w.rng.IntN(3) == 0
	var plan result
	if planned {
		a := w.cairn(withFlags(args, "--dry-run")...)
		w.untouched(v, git, "dry run of "+m.what)
		if a.code != 0 && a.code != 3 {
			return m, w.refused(a)
		}
		w.readResult(a, b.session, &plan)
		if plan.PlanID == "" {
			return m, false // there is nothing to be done
		}
		args = withFlags(args, "--plan", plan.PlanID)
	}
	a := w.cairn(args...)
	now, nowGit := w.look()
	m.after, m.git = now, nowGit
	w.sameGit(git, nowGit, m.what)
	if a.code != 0 && a.code != 3 {
		if d := diff(v, now); d != "" {
			m.fail("refused and changed", "%s\n%s", a.stderr, d)
		}
		if planned {
			w.cairn(withFlags(b.args, "--dry-run")...) // for the report: what the plan is now
			m.fail("plan refused", "%s", a.stderr)
		}
		return m, w.refused(a)
	}
	w.readResult(a, b.session, &m.res)
	if planned {
		m.asPlanned(&plan)
	}
	code := a.code
	if a.overHTTP {
		code = -1
	}
	w.judged(m, code, b.judge)
	return m, true
}

// withFlags puts flags at the end, or before the paths.
func withFlags(args []string, flags ...string) []string {
	i := slices.Index(args, "--")
	if i < 0 {
		i = len(args)
	}
	return slices.Insert(slices.Clone(args), i, flags...)
}

// refusals are the reasons for which a way back may do nothing at all.
var refusals = []string{
	"nothing to ", "no such", "not found", "is not reverted", "step is still open", "nothing was changed", "is open since", "on-conflict", "there are only", "has no ", "open step", "cleaned away", "so nothing was done",
}

// refused tells a refusal from a failure.
func (w *world) refused(a answer) bool {
	for _, r := range refusals {
		if strings.Contains(a.stderr, r) {
			return false
		}
	}
	w.fail("refused", "%q: %d %s", a.args, a.code, a.stderr)
	return false
}

func (w *world) readResult(a answer, inSession bool, to *result) {
	if !inSession {
		w.decode(a, to)
		return
	}
	wrapped := struct {
		Result *result `json:"result"`
	}{to}
	w.decode(a, &wrapped)
}

// asPlanned fails if something else was done than the dry run had said.
func (m *move) asPlanned(plan *result) {
	if !slices.Equal(plan.changed(), m.res.changed()) || !slices.Equal(plan.listed(), m.res.listed()) {
		m.fail("not as planned", "planned %q and %q, done %q and %q", plan.changed(), plan.listed(), m.res.changed(), m.res.listed())
	}
}

// judged holds a move against what every way back promises, and against its own rules.
func (w *world) judged(m *move, code int, judge func(*move)) {
	if partly := len(m.res.Kept)+len(m.res.Conflicts) > 0; code >= 0 && partly != (code == 3) {
		m.fail("status", "status %d, kept %v, conflicts %v", code, m.res.Kept, m.res.Conflicts)
	}
	m.onlyWhatIsListed()
	if judge != nil {
		judge(m)
	}
	if m.res.Operation == "" {
		if d := diff(m.before, m.after); d != "" {
			m.fail("unrecorded", "no operation, and\n%s", d)
		}
		return
	}
	w.nothingLost(m)
	w.ops[m.res.Operation] = &operation{id: m.res.Operation, before: m.before, after: m.after, forward: m.forward, back: m.back}
}

// onlyWhatIsListed fails if a path changed and the answer does not name it. The
// directories that a listed path needs are made without being named.
func (m *move) onlyWhatIsListed() {
	listed := make(map[string]bool)
	for _, p := range m.res.changed() {
		listed[p] = true
	}
	for _, p := range paths(m.before, m.after) {
		was, is := m.before[p], m.after[p]
		if was == is || listed[p] {
			continue
		}
		if was.kind == 0 && is.kind == 'd' && slices.ContainsFunc(m.res.changed(), func(l string) bool { return isBelow(l, p) }) {
			continue
		}
		if m.killed && was.kind == 'd' && is.kind == 'd' {
			m.fail("bits after a kill", "%q was %v, is %v", p, was, is)
		}
		m.fail("not listed", "%q was %v, is %v", p, was, is)
	}
}

// operations lists what the program has recorded, newest first.
func (w *world) operations() []recorded {
	a := w.cairn("operations")
	var list []recorded
	if a.code == 0 {
		w.decode(a, &list)
	}
	return list
}

type recorded struct {
	ID, Kind, Before, After, Undoes string
	Kept, Conflicts                 []pathReason
	Paths                           []pathtext.Text
}

// nothingLost asks git whether the state before an operation has all that it took away.
func (w *world) nothingLost(m *move) {
	list := w.operations()
	i := slices.IndexFunc(list, func(r recorded) bool { return r.ID == m.res.Operation })
	if i < 0 {
		m.fail("unrecorded", "operation %s is not in the log", m.res.Operation)
	}
	held := w.listing(list[i].Before)
	for p, e := range m.before {
		gone := m.after[p].kind != e.kind || m.after[p].data != e.data
		if gone && (e.kind == 'f' || e.kind == 'l') && held[p] != lsLine(e) {
			m.fail("lost", "%q was %v and is %v; the state before has %q", p, e, m.after[p], held[p])
		}
	}
}
