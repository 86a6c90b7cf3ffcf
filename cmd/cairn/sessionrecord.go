package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

func (r *sessionRun) metadata() (map[string]string, error) {
	meta := make(map[string]string)
	for _, pair := range r.f.meta {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, r.usage("cannot use --meta %s: want KEY=TEXT", shellWord(pair))
		}
		meta[key] = value
	}
	return meta, nil
}

func (r *sessionRun) begin() error {
	meta, err := r.metadata()
	if err != nil {
		return err
	}
	s, err := r.all.Begin(r.ctx, session.Begin{ID: r.args[0], Title: r.f.title, Parent: r.f.parent, Meta: meta})
	if err != nil {
		return err
	}
	return r.printSession(s)
}

func (r *sessionRun) addMessage() error {
	meta, err := r.metadata()
	if err != nil {
		return err
	}
	m, err := r.all.AddMessage(r.ctx, session.MessageBegin{
		Session: r.args[0], Message: r.f.message, Role: r.f.role, Prompt: r.f.prompt, Meta: meta,
	})
	if err != nil || !r.global.json {
		return err
	}
	return r.writeJSON(m)
}

// newStep is the step that the flags describe.
func (r *sessionRun) newStep() (b session.StepBegin, err error) {
	meta, err := r.metadata()
	if err != nil {
		return b, err
	}
	paths, err := r.paths(r.f.paths)
	if err != nil {
		return b, err
	}
	owner, err := r.owner()
	if err != nil {
		return b, err
	}
	b = session.StepBegin{
		Session: r.args[0], Message: r.f.message, Role: r.f.role, Step: r.f.step, Prompt: r.f.prompt, Paths: paths, Meta: meta, Owner: owner,
	}
	return b, b.Check()
}

// owner is whose step begins: never this process's.
func (r *sessionRun) owner() (*session.Owner, error) {
	o := &session.Owner{Lease: r.f.lease}
	if r.f.lease < 0 || r.f.owner < 0 {
		return nil, r.usage("--lease and --owner cannot be negative")
	}
	if r.f.owner == 0 {
		return o, nil
	}
	p, ok := session.ProcessOf(r.f.owner)
	if !ok {
		return nil, r.usage("--owner %d: no such process can be seen from here; --lease DURATION does without", r.f.owner)
	}
	o.Processes = []session.Process{p}
	return o, nil
}

func (r *sessionRun) stepBegin() error {
	b, err := r.newStep()
	if err != nil {
		return err
	}
	st, err := r.all.BeginStep(r.ctx, b)
	if err != nil {
		return err
	}
	return r.printStep(st, st.Before)
}

func (r *sessionRun) stepEnd() error {
	paths, err := r.paths(r.f.paths)
	if err != nil {
		return err
	}
	st, err := r.all.EndStep(r.ctx, session.StepEnd{Session: r.args[0], Step: r.f.step, Paths: paths, Gone: r.f.gone})
	if err != nil {
		return r.withBeginning(err)
	}
	if err := r.printStep(st, st.After); err != nil {
		return err
	}
	r.console.remark("step %s: %s", printable(st.ID), wording.Count(len(st.Patch.Files), "file"))
	if r.late {
		r.console.complain("warning: the state before the step was captured only now: what its tools had changed by then is not in it")
		return errPartly
	}
	return nil
}

// printStep prints the tree that was captured, as track does.
func (c *cli) printStep(st *session.Step, at session.Checkpoint) error {
	if c.global.json {
		return c.writeJSON(st)
	}
	_, err := c.out.WriteString(at.Hash + "\n")
	return err
}

func (r *sessionRun) hint() error {
	paths, err := r.paths(r.args[1:])
	if err != nil {
		return err
	}
	return r.withBeginning(r.all.Hint(r.ctx, r.args[0], r.f.step, paths))
}

func (r *sessionRun) list() error {
	list, err := r.all.List(r.ctx)
	if err != nil {
		return err
	}
	if r.global.json {
		return r.writeJSON(append([]*session.Session{}, list...))
	}
	for _, s := range list {
		r.writeSession(s)
		r.writeLatest(s)
	}
	if len(list) == 0 {
		r.console.remark("no session yet")
	}
	return nil
}

// writeSession prints one line of a list.
func (r *sessionRun) writeSession(s *session.Session) {
	head := cairn.QuotePath(s.ID) + "  " + ageText(r.console.now().Sub(s.Updated)) + "  "
	if s.Agent != "" {
		head += printable(s.Agent) + ", "
	}
	pieces := []string{head + wording.Count(s.Messages, "message"), wording.Count(s.Steps, "step")}
	if s.Open != "" {
		pieces = append(pieces, "running")
	}
	if s.Revert != nil {
		pieces = append(pieces, "reverted to "+cairn.QuotePath(s.Revert.Message))
	}
	if s.Truncated {
		pieces = append(pieces, "beginning cleaned away")
	}
	if s.Parent != "" {
		pieces = append(pieces, "of "+cairn.QuotePath(s.Parent))
	}
	lines := wording.Wrap(lineWidth-len(indent), pieces...)
	last := len(lines) - 1
	room := lineWidth - len(indent) - 2 - utf8.RuneCountInString(lines[last])
	if title := wording.FirstLine(s.Title, lineWidth-len(indent)); utf8.RuneCountInString(title) <= room {
		lines[last] += spaced(title)
	} else {
		lines = append(lines, title)
	}
	r.out.WriteString(strings.Join(lines, "\n"+indent) + "\n")
}

// writeLatest prints what a session did last.
func (r *sessionRun) writeLatest(s *session.Session) {
	if s.Latest == nil {
		return
	}
	if s.Latest.Prompt != "" {
		r.out.WriteString(indent + wording.FirstLine(s.Latest.Prompt, lineWidth-len(indent)) + "\n")
	}
	r.writeDid(s.Latest, indent)
}

// printSession prints a session, for people with the lines that it changed.
func (r *sessionRun) printSession(s *session.Session) error {
	if r.global.json {
		return r.writeJSON(s)
	}
	r.writeSession(s)
	if sum := s.Summary; sum != nil && sum.Files > 0 {
		fmt.Fprintf(r.out, "%s changed, %d added, %d deleted\n", wording.Count(sum.Files, "file"), sum.Additions, sum.Deletions)
	}
	return nil
}

func (r *sessionRun) show() error {
	s, err := r.all.Get(r.ctx, r.args[0])
	if err != nil {
		return err
	}
	history, err := r.all.History(r.ctx, r.args[0])
	if err != nil {
		return err
	}
	if r.global.json {
		return r.writeJSON(struct {
			*session.Session
			History []session.Message `json:"history"`
		}{s, history})
	}
	if err := r.printSession(s); err != nil {
		return err
	}
	for i := range history {
		r.writeMessage(&history[i])
	}
	return nil
}

func (r *sessionRun) writeMessage(m *session.Message) {
	prompt := m.Prompt
	if m.Truncated {
		prompt = "(its beginning has been cleaned away)"
	}
	line := fmt.Sprintf("%s%s  %s", mark(m.Reverted), cairn.QuotePath(m.ID), printable(m.Role))
	lines := []string{line}
	if text := wording.FirstLine(prompt, lineWidth-len(indent)); utf8.RuneCountInString(line+text)+2 <= lineWidth {
		lines[0] += spaced(text)
	} else {
		lines = append(lines, text)
	}
	r.out.WriteString(strings.Join(lines, "\n"+indent) + "\n")
	for i := range m.Steps {
		r.writeStep(&m.Steps[i])
	}
	for _, child := range m.Children {
		fmt.Fprintf(r.out, indent+"session %s\n", cairn.QuotePath(child))
	}
}

func (r *sessionRun) writeStep(st *session.Step) {
	after, state := shortened(st.After.ID), wording.Count(len(st.Patch.Files), "file")
	if st.Open() {
		after, state = "", "running"
	}
	if st.Abandoned {
		state += ", abandoned"
	}
	fmt.Fprintf(r.out, indent+"%s%s  %s..%s  %s\n", mark(st.Reverted), cairn.QuotePath(st.ID), shortened(st.Before.ID), after, state)
	r.writeDid(st.Work(r.repo.Root()), indent+indent)
}

func shortened(id string) string { return id[:min(len(id), shortID)] }

// mark is what stands before something that is reverted.
func mark(reverted bool) string {
	if reverted {
		return "(reverted) "
	}
	return ""
}

func spaced(text string) string {
	if text == "" {
		return ""
	}
	return "  " + text
}

func (r *sessionRun) diff() error {
	in := session.Scope{Message: r.f.message, Step: r.f.step}
	if !r.global.json {
		list, err := r.all.Changes(r.ctx, r.args[0], in)
		if err != nil {
			return err
		}
		return r.repo.WriteDiff(r.ctx, r.out, list, cairn.DiffOptions{})
	}
	array := jsonArray{c: r.cli}
	for d, err := range r.all.Diff(r.ctx, r.args[0], in) {
		if err == nil {
			err = array.add(d)
		}
		if err != nil {
			return err
		}
	}
	return array.close()
}
