// Package sessiontext puts sessions, their messages and their steps into lines for people.
package sessiontext

import (
	"fmt"
	"time"
	"unicode/utf8"

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

// Session describes one session of a list, as of now.
func Session(s *session.Session, now time.Time) []string {
	head := pathtext.Quote(s.ID) + "  " + wording.Ago(now.Sub(s.Updated)) + "  "
	if s.Agent != "" {
		head += wording.Printable(s.Agent) + ", "
	}
	pieces := []string{head + wording.Count(s.Messages, "message"), wording.Count(s.Steps, "step")}
	if s.Open != "" {
		pieces = append(pieces, "running")
	}
	if s.Revert != nil {
		pieces = append(pieces, "reverted to "+pathtext.Quote(s.Revert.Message))
	}
	if s.Truncated {
		pieces = append(pieces, "beginning cleaned away")
	}
	if s.Parent != "" {
		pieces = append(pieces, "of "+pathtext.Quote(s.Parent))
	}
	lines := wording.Wrap(Width-len(indent), pieces...)
	last := len(lines) - 1
	room := Width - len(indent) - 2 - utf8.RuneCountInString(lines[last])
	if title := wording.FirstLine(s.Title, Width-len(indent)); utf8.RuneCountInString(title) <= room {
		lines[last] += spaced(title)
	} else {
		lines = append(lines, title)
	}
	return hanging(lines)
}

// hanging indents all lines but the first.
func hanging(lines []string) []string {
	for i := range lines[1:] {
		lines[1+i] = indent + lines[1+i]
	}
	return lines
}

// Latest describes the newest work of a session.
func Latest(s *session.Session) (lines []string) {
	if s.Latest == nil {
		return nil
	}
	if s.Latest.Prompt != "" {
		lines = append(lines, indent+wording.FirstLine(s.Latest.Prompt, Width-len(indent)))
	}
	return append(lines, Work(s.Latest, indent)...)
}

// Message describes a message and its steps. Paths count from root.
func Message(m *session.Message, root string) []string {
	prompt := m.Prompt
	if m.Truncated {
		prompt = "(its beginning has been cleaned away)"
	}
	line := fmt.Sprintf("%s%s  %s", mark(m.Reverted), pathtext.Quote(m.ID), wording.Printable(m.Role))
	lines := []string{line}
	if text := wording.FirstLine(prompt, Width-len(indent)); utf8.RuneCountInString(line+text)+2 <= Width {
		lines[0] += spaced(text)
	} else {
		lines = append(lines, text)
	}
	lines = hanging(lines)
	for _, commit := range m.Commits {
		lines = append(lines, indent+"committed to git as "+shortened(commit))
	}
	for i := range m.Steps {
		lines = append(lines, step(&m.Steps[i], root)...)
	}
	for _, child := range m.Children {
		lines = append(lines, indent+"session "+pathtext.Quote(child))
	}
	return lines
}

func step(st *session.Step, root string) []string {
	after, state := shortened(st.After.ID), wording.Count(len(st.Patch.Files), "file")
	if st.Open() {
		after, state = "", "running"
	}
	if st.Abandoned {
		state += ", abandoned"
	}
	line := fmt.Sprintf(indent+"%s%s  %s..%s  %s", mark(st.Reverted), pathtext.Quote(st.ID), shortened(st.Before.ID), after, state)
	return append([]string{line}, Work(st.Work(root), indent+indent)...)
}

// Work describes a step: its tools, and the first files that it changed.
func Work(w *session.Work, indent string) []string {
	calls := make([]string, len(w.Calls))
	for i, call := range w.Calls {
		calls[i] = call.String()
	}
	paths := make([]string, len(w.Paths))
	for i, path := range w.Paths {
		paths[i] = pathtext.Quote(path)
	}
	lines := wording.Did(Width-len(indent), calls, paths, w.Changed)
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}

func shortened(id string) string { return id[:min(len(id), shortID)] }

// mark is the prefix of a message or step that is reverted.
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
