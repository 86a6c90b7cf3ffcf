package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// filled adds empty lines up to a height.
func filled(lines []string, width, height int) []string {
	for len(lines) < height {
		lines = append(lines, fit("", width))
	}
	return lines[:max(height, 0)]
}

// lineRole is the look of a row of a list: selected or not, in the pane with the keyboard or not.
func (m *Model) lineRole(isSelected bool, p pane) role {
	switch {
	case isSelected && m.focus == p:
		return cursor
	case isSelected:
		return selected
	}
	return plain
}

// turnLines draws the list of turns.
func (m *Model) turnLines(b box) []string {
	if b.h <= 0 {
		return nil
	}
	m.list.show(len(m.rows), b.h)
	var lines []string
	for i := m.list.top; i < len(m.rows) && len(lines) < b.h; i++ {
		if r := m.rows[i]; r.turn == nil {
			lines = append(lines, m.look.paint(heading, fit(" "+m.sessionText(r.session, b.w-2), b.w)))
		} else {
			lines = append(lines, m.turnLine(r.turn, b.w, m.lineRole(r.turn == m.turn, turnsPane)))
		}
	}
	if len(m.rows) == 0 {
		lines = append(lines, m.look.paint(dim, fit(" "+m.nothing(), b.w)))
	}
	return filled(lines, b.w, b.h)
}

// nothing says why the list is empty.
func (m *Model) nothing() string {
	switch {
	case m.read < len(m.sessions) || !m.listed:
		return "reading the sessions…"
	case m.filter.text != "":
		return "no turn fits the filter"
	}
	return "no session has been recorded here yet"
}

func (m *Model) sessionText(s *Session, width int) string {
	title := visibleLine(s.Title)
	if title == "" {
		title = "session " + short(visible(s.ID), 12)
	}
	tail := "  " + wording.Ago(m.opt.Now().Sub(s.Updated))
	if s.Agent != "" {
		tail = "  " + visibleLine(s.Agent) + tail
	}
	if ansi.StringWidth(tail) > width/2 {
		tail = ""
	}
	return short(title, width-ansi.StringWidth(tail)) + tail
}

// sign is the sign before a turn.
func (m *Model) sign(t *Turn) string {
	switch {
	case t.Open:
		return "…"
	case t.Reverted:
		return "↩"
	case m.accepted[wholeMark(t)]:
		return "✓"
	}
	return " "
}

func (m *Model) turnLine(t *Turn, width int, look role) string {
	tail := "  " + m.clock(t)
	if n := len(t.Paths); n > 0 {
		tail = fmt.Sprintf("  %s  %s", wording.Count(n, "file"), m.clock(t))
	}
	prompt := visibleLine(t.Prompt)
	if prompt == "" {
		prompt = "(no prompt)"
	}
	left := " " + m.sign(t) + " " + prompt
	tail = ifRoom(tail+" ", width-minName)
	line := between(short(left, width-ansi.StringWidth(tail)), tail, width)
	if look == plain && (t.Reverted || len(t.Paths) == 0) {
		look = dim
	}
	return m.look.paint(look, line)
}

// minName is the number of columns that a row leaves for its mark and the beginning of a prompt or path.
const minName = 14

// ifRoom is a text, or nothing if it is too wide.
func ifRoom(text string, width int) string {
	if ansi.StringWidth(text) > width {
		return ""
	}
	return text
}

// clock is the time of a turn of today, else its day.
func (m *Model) clock(t *Turn) string {
	now := m.opt.Now()
	when := t.When.In(now.Location())
	switch {
	case when.Format("2006-01-02") == now.Format("2006-01-02"):
		return when.Format(" 15:04")
	case when.Year() == now.Year():
		return when.Format("Jan _2")
	}
	return when.Format("  2006")
}

// fileLines draws the files of the selected turn below a title.
func (m *Model) fileLines(b box) []string {
	if b.h <= 0 {
		return nil
	}
	m.file.show(len(m.files), b.h-1)
	lines := []string{m.look.paint(heading, fit(" "+m.filesTitle(), b.w))}
	for i := m.file.top; i < len(m.files) && len(lines) < b.h; i++ {
		lines = append(lines, m.fileLine(&m.files[i], b.w, m.lineRole(i == m.file.at, filesPane)))
	}
	return filled(lines, b.w, b.h)
}

func (m *Model) filesTitle() string {
	switch {
	case m.turn == nil:
		return ""
	case !m.loaded:
		return "reading the files…"
	case len(m.files) == 0:
		return "no file was changed"
	}
	added, deleted := 0, 0
	for i := range m.files {
		added += m.files[i].Additions
		deleted += m.files[i].Deletions
	}
	return fmt.Sprintf("%s  +%d -%d", wording.Count(len(m.files), "file"), added, deleted)
}

func (m *Model) fileLine(f *File, width int, look role) string {
	tail := fmt.Sprintf("  +%d -%d ", f.Additions, f.Deletions)
	if f.Note != "" {
		tail = "  " + f.Note + " "
	}
	state := " "
	if n, known := m.fileAccepted(f); known {
		state = "✓"
	} else if n > 0 {
		state = "·"
	}
	tail = ifRoom(tail, width-minName)
	left := fmt.Sprintf(" %s %s ", state, f.Change.Letter())
	path := shortPath(visible(f.Change.Path), width-ansi.StringWidth(left)-ansi.StringWidth(tail))
	line := between(left+path, tail, width)
	if look == plain && tail != "" {
		return m.look.paint(plain, strings.TrimSuffix(line, tail)) + m.countText(f, tail)
	}
	return m.look.paint(look, line)
}

// countText is the tail of a file's line with its counts in colours.
func (m *Model) countText(f *File, tail string) string {
	if f.Note != "" {
		return m.look.paint(dim, tail)
	}
	return "  " + m.look.paint(added, fmt.Sprintf("+%d", f.Additions)) + " " + m.look.paint(deleted, fmt.Sprintf("-%d", f.Deletions)) + " "
}

// fileAccepted counts the accepted hunks of a file, also those that it had at an earlier time. whole: all that it has are
// known to be accepted.
func (m *Model) fileAccepted(f *File) (n int, whole bool) {
	if m.accepted[wholeMark(m.turn)] {
		return 0, true
	}
	n = m.counts[markOf(m.turn, f.Change.Path, "")]
	if m.view == nil || string(m.view.diff.File) != f.Change.Path {
		return n, false
	}
	other := slices.ContainsFunc(m.view.diff.Hunks, func(h cairn.Hunk) bool { return !m.accepted[markOf(m.turn, f.Change.Path, h.ID)] })
	return n, n > 0 && !other
}
