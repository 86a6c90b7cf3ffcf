package review

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/reviewed"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Answers of commands that decide.
type (
	// chosenMsg has the hunks that a decision is about.
	chosenMsg struct {
		accept bool // else take back
		turn   *Turn
		hunks  []reviewed.Mark
		files  int
		whole  bool
		err    error
	}
	planMsg struct {
		action Action
		result *cairn.Result
		err    error
	}
	doneMsg struct {
		action Action
		result *cairn.Result
		err    error
	}
)

func markOf(t *Turn, path, hunk string) reviewed.Mark {
	return reviewed.Mark{Session: t.Session.ID, Turn: t.ID, Path: cairn.Path(path), Hunk: hunk}
}

// wholeMark is the decision that all hunks of a turn are accepted. A turn that goes on gets further steps, and their hunks
// are not accepted.
func wholeMark(t *Turn) reviewed.Mark { return markOf(t, "", wording.Count(t.Steps, "step")) }

// choose collects the hunks that the pane with the keyboard has selected: one, those of a file, or
// those of a turn.
func (m *Model) choose(accept bool) tea.Cmd {
	if m.turn == nil || m.working != "" {
		return nil
	}
	if m.focus == hunksPane {
		i := m.currentHunk()
		if i < 0 {
			m.say("the file is still being read")
			return nil
		}
		mark := markOf(m.turn, string(m.view.diff.File), m.view.diff.Hunks[i].ID)
		return m.gotChosen(chosenMsg{accept: accept, turn: m.turn, hunks: []reviewed.Mark{mark}, files: 1})
	}
	var files []File // nil: all of the turn
	if m.focus == filesPane {
		f := m.currentFile()
		if f == nil {
			return nil
		}
		files = []File{*f}
	}
	m.working = "reading the hunks"
	ctx, src, turn := m.ctx, m.opt.Source, m.turn
	return func() tea.Msg {
		msg := chosenMsg{accept: accept, turn: turn, whole: files == nil}
		msg.files, msg.hunks, msg.err = hunksOf(ctx, src, turn, files)
		return msg
	}
}

// hunksOf lists the hunks of some files of a turn, or of all if files is nil, and counts the files.
func hunksOf(ctx context.Context, src Source, turn *Turn, files []File) (n int, hunks []reviewed.Mark, err error) {
	if files == nil {
		if files, err = src.Files(ctx, turn); err != nil {
			return 0, nil, err
		}
	}
	for i := range files {
		d, err := src.Diff(ctx, &files[i])
		if err != nil {
			return 0, nil, err
		}
		for _, h := range d.Hunks {
			hunks = append(hunks, markOf(turn, string(d.File), h.ID))
		}
	}
	return len(files), hunks, nil
}

func (m *Model) gotChosen(msg chosenMsg) tea.Cmd {
	m.working = ""
	if msg.err != nil {
		m.fail(msg.err)
		return nil
	}
	if len(msg.hunks) == 0 {
		m.say("this turn changed no file")
		return nil
	}
	if !msg.accept {
		return m.makePlan(Action{Verb: TakeBack, Turn: msg.turn, Hunks: msg.hunks, Files: msg.files, Whole: msg.whole})
	}
	return m.accept(msg)
}

// accept accepts hunks. Where all of them are accepted, it takes that back.
func (m *Model) accept(msg chosenMsg) tea.Cmd {
	known := true
	for _, h := range msg.hunks {
		known = known && m.accepted[h]
	}
	var remove, add []reviewed.Mark
	if known {
		remove = append(msg.hunks, wholeMark(msg.turn))
		m.say(wording.Count(len(msg.hunks), "hunk") + " no longer accepted")
	} else {
		add = msg.hunks
		if msg.whole && msg.turn.ended() {
			add = append(add, wholeMark(msg.turn))
		}
		m.say(wording.Count(len(msg.hunks), "hunk") + " accepted")
	}
	for _, mark := range remove {
		delete(m.accepted, mark)
	}
	for _, mark := range add {
		m.accepted[mark] = true
	}
	m.count()
	if !known && m.focus == hunksPane {
		m.nextHunk(1)
	}
	ctx, src := m.ctx, m.opt.Source
	return func() tea.Msg { return savedMsg{src.ChangeMarks(ctx, remove, add)} }
}

// makePlan asks what an action would do.
func (m *Model) makePlan(a Action) tea.Cmd {
	if m.working != "" {
		return nil
	}
	m.working, m.message = "making the plan", ""
	ctx, src := m.ctx, m.opt.Source
	return func() tea.Msg {
		result, err := src.Do(ctx, a)
		return planMsg{a, result, err}
	}
}

// shownPlan is a plan that waits for an answer.
type shownPlan struct {
	action Action
	result *cairn.Result
	top    int
}

func (m *Model) gotPlan(msg planMsg) {
	m.working = ""
	if msg.err != nil {
		m.fail(msg.err)
		return
	}
	m.plan = &shownPlan{action: msg.action, result: msg.result}
}

// empty reports whether the plan changes nothing.
func (p *shownPlan) empty() bool { return len(p.result.Plan) == 0 }

// carryOut does what the plan says, and nothing if it would be another one by now.
func (m *Model) carryOut() tea.Cmd {
	a := m.plan.action
	a.Plan = m.plan.result.PlanID
	m.plan = nil
	m.working, m.changes = "changing files", true
	ctx, src := m.ctx, m.opt.Source
	return func() tea.Msg {
		result, err := src.Do(ctx, a)
		return doneMsg{a, result, err}
	}
}

func (m *Model) gotDone(msg doneMsg) tea.Cmd {
	leaving := m.leaving
	m.working, m.changes, m.leaving = "", false, false
	switch {
	case msg.err != nil:
		m.fail(msg.err)
		return m.readMarks()
	case leaving:
		return tea.Quit
	}
	r := msg.result.InAllRoots()
	text := fmt.Sprintf("done: %s restored, %d deleted; u takes it back", wording.Count(len(r.Restored), "path"), len(r.Deleted))
	if n := len(r.Conflicts) + len(r.Kept); n > 0 {
		text += fmt.Sprintf("; %d left alone: %s", n, visible(string(append(r.Conflicts, r.Kept...)[0].Path)))
	}
	m.say(text)
	if msg.action.Verb == TakeBack {
		return m.readMarks()
	}
	return tea.Batch(m.readMarks(), m.reload())
}

// reload reads everything again and goes back to the selection.
func (m *Model) reload() tea.Cmd {
	m.keep = m.place()
	if m.opt.Range != nil {
		return m.readFiles(m.keep.path)
	}
	m.stale = true
	return m.readSessions()
}

// title says in words what a plan is about.
func (a *Action) title() string {
	switch a.Verb {
	case GoBack:
		if a.Turn.Later == 0 {
			return "Go back to before this turn"
		}
		return fmt.Sprintf("Go back to before this turn: it and the %s after it", wording.Count(a.Turn.Later, "turn"))
	case Undo:
		return "Undo the last operation"
	case Redo:
		return "Redo what was undone"
	}
	what := wording.Count(len(a.Hunks), "hunk")
	if a.Whole && a.Turn.Session.ID == "" {
		return fmt.Sprintf("Take back what changed between the checkpoints: %s in %s; later changes stay", what, wording.Count(a.Files, "file"))
	}
	if a.Whole {
		return fmt.Sprintf("Take back this turn only: %s in %s; later turns stay", what, wording.Count(a.Files, "file"))
	}
	return fmt.Sprintf("Take back %s of %s", what, visible(string(a.Hunks[0].Path)))
}
