// Package sessiontext puts sessions, their messages and their steps into lines for people.
package sessiontext

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Width is the number of characters of a line, unless an id needs more.
const Width = 100

const (
	indent  = "    "
	shortID = 12 // digits of an id
)

// Style says how sessions are told.
type Style struct {
	Now  time.Time
	IDs  bool   // the ids of sessions, messages and steps, too
	Root string // from which paths count

	Model string // of the session: a step names its own where it is another one
}

// Session describes one session of a list. place is how a command can name it, "" for none.
func (y Style) Session(s *session.Session, place string) []string {
	head := Title(s, Width-len(indent))
	if place != "" {
		head = fmt.Sprintf("%-*s%s", len(indent), place, " "+head)
	}
	who := s.Agent
	if s.Title == "" {
		who = "" // the title has it
	}
	pieces := []string{wording.Printable(who), wording.Printable(s.Model), wording.Ago(y.Now.Sub(s.Updated)), wording.Count(s.Messages, "message"), wording.Count(s.Steps, "step")}
	if s.Open != "" {
		pieces = append(pieces, "running")
	}
	if s.Revert != nil {
		pieces = append(pieces, y.named("reverted", "to", s.Revert.Message))
	}
	if s.Fetched != nil {
		pieces = append(pieces, "from "+s.Fetched.String())
	}
	if s.NotPushed {
		pieces = append(pieces, "only here")
	}
	if s.Truncated {
		pieces = append(pieces, "beginning cleaned away")
	}
	if s.Parent != "" {
		pieces = append(pieces, y.named("sub-agent", "of", s.Parent))
	}
	for _, root := range s.Further {
		pieces = append(pieces, "also in "+pathtext.Place(root))
	}
	if y.IDs {
		pieces = append(pieces, "id "+pathtext.Quote(s.ID))
	}
	return append([]string{head}, indented(wording.Wrap(Width-len(indent), pieces...))...)
}

// Title is the title of a session on a line of at most width columns: its agent and the beginning
// of its id where it has none.
func Title(s *session.Session, width int) string {
	if s.Title != "" {
		return wording.FirstLine(s.Title, width)
	}
	return wording.FirstLine(strings.TrimSpace(s.Agent+" "+pathtext.Quote(s.ID)), width)
}

// NameColumns is the number of columns of a title or a prompt within a sentence.
const NameColumns = 60

// Name names a session within a sentence: its title in quotes, or its id.
func Name(s *session.Session) string {
	if s.Title == "" {
		return pathtext.Quote(s.ID)
	}
	return `"` + wording.FirstLine(s.Title, NameColumns) + `"`
}

// titled has Title of session.Sessions.
type titled interface {
	Title(ctx context.Context, id string) (string, error)
}

// Message is the message of a checkpoint, given whose work it is. The checkpoint with which a session
// begins names it by its title in place of its id.
func Message(ctx context.Context, all titled, message string, w *session.Work) string {
	const begins = "begin session "
	if w == nil || w.Message != "" || !strings.HasPrefix(message, begins) {
		return message
	}
	title, err := all.Title(ctx, w.Session)
	if err != nil {
		return message
	}
	return begins + `"` + title + `"`
}

// named adds an id to a word if ids are wanted.
func (y Style) named(word, of, id string) string {
	if !y.IDs {
		return word
	}
	return word + " " + of + " " + pathtext.Quote(id)
}

func indented(lines []string) []string {
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}

// Latest describes the newest work of a session. The prompt is left out where it is the title.
func Latest(s *session.Session) (lines []string) {
	if s.Latest == nil {
		return nil
	}
	if prompt := wording.FirstLine(s.Latest.Prompt, Width-len(indent)); prompt != "" && prompt != Title(s, Width-len(indent)) {
		lines = append(lines, indent+prompt)
	}
	return append(lines, work(s.Latest, s.Model, indent)...)
}

// Turn describes a turn, its messages and their steps.
func (y Style) Turn(t *session.Turn) (lines []string) {
	for i := range t.Messages {
		number := ""
		if i == 0 {
			number = strconv.Itoa(t.Number)
		}
		lines = append(lines, y.message(&t.Messages[i], number)...)
	}
	return lines
}

func (y Style) message(m *session.Message, number string) []string {
	prompt := m.Prompt
	switch {
	case m.Truncated:
		prompt = "(its beginning has been cleaned away)"
	case prompt == "" && m.Role == session.RoleUser:
		prompt = wording.NoPrompt
	}
	line := fmt.Sprintf("%3s  %s", number, mark(m.Reverted))
	if m.Role != session.RoleUser {
		line += wording.Printable(m.Role) + "  "
	}
	if y.IDs {
		line += pathtext.Quote(m.ID) + "  "
	}
	line += wording.FirstLine(prompt, max(8, Width-wording.Columns(line)))
	lines := []string{strings.TrimRight(line, " ")}
	for _, commit := range m.Commits {
		lines = append(lines, stepIndent+"committed to git as "+shortened(commit))
	}
	for i := range m.Steps {
		lines = append(lines, y.step(&m.Steps[i])...)
	}
	for _, child := range m.Children {
		lines = append(lines, stepIndent+y.named("sub-agent", "in session", child))
	}
	return lines
}

// stepIndent stands before a step of a turn.
const stepIndent = "       "

func (y Style) step(st *session.Step) []string {
	state := wording.Count(len(st.Files()), "file")
	if st.Open() {
		state = "running"
	}
	if st.Abandoned {
		state += ", abandoned"
	}
	line := stepIndent + mark(st.Reverted)
	if y.IDs {
		line += fmt.Sprintf("%s  %s..%s  ", pathtext.Quote(st.ID), shortened(st.Before.ID), shortened(st.After.ID))
	}
	lines := append([]string{line + state}, work(st.Work(y.Root), y.Model, stepIndent+indent)...)
	for i := range st.Outside {
		lines = append(lines, stepIndent+indent+Outside(&st.Outside[i]))
	}
	return lines
}

// Outside describes a change outside the roots of a session.
func Outside(c *session.OutsideChange) string {
	text := "outside: " + c.Change + " " + c.Path.Place()
	if c.Left != "" {
		return text + ", not saved: " + c.Left
	}
	return text
}

// Work describes a step: its model, its tools, and the first files that it changed.
func Work(w *session.Work, indent string) []string { return work(w, "", indent) }

// work is Work without a model that is named elsewhere.
func work(w *session.Work, named, indent string) []string {
	calls := make([]string, len(w.Calls))
	for i, call := range w.Calls {
		calls[i] = call.String()
	}
	paths := make([]string, len(w.Paths))
	for i, path := range w.Paths {
		paths[i] = pathtext.Quote(path)
	}
	if w.Model != named {
		calls = wording.ByModel(w.Model, calls)
	}
	lines := wording.Did(Width-len(indent), calls, paths, w.Changed)
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}

// IDs names the session, the message and the step of some work.
func IDs(w *session.Work) string {
	var pieces []string
	for _, id := range [][2]string{{"session", w.Session}, {"message", w.Message}, {"step", w.Step}} {
		if id[1] != "" {
			pieces = append(pieces, id[0]+" "+pathtext.Quote(id[1]))
		}
	}
	return strings.Join(pieces, ", ")
}

func shortened(id string) string { return id[:min(len(id), shortID)] }

// mark is the prefix of a message or step that is reverted.
func mark(reverted bool) string {
	if reverted {
		return "(reverted) "
	}
	return ""
}
