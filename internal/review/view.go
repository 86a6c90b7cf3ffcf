package review

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const (
	minWide  = 100 // columns from which the lists stand beside the hunks
	minTall  = 8   // lines from which they do
	minSplit = 100 // columns from which two sides stand beside each other
	maxHead  = 3   // lines of the prompt
)

// box is where a pane is on the screen. A pane that is not there has no height.
type box struct{ x, y, w, h int }

func (b box) holds(x, y int) bool { return x >= b.x && x < b.x+b.w && y >= b.y && y < b.y+b.h }

// boxes are the places of the panes. head is the prompt of the turn.
type boxes struct{ turns, files, head, hunks box }

func (m *Model) wide() bool {
	return m.width >= minWide && m.height >= minTall && !m.zoomed()
}

// zoomed reports whether the hunks have the whole width: two sides would be too narrow beside the
// lists.
func (m *Model) zoomed() bool {
	return m.split && m.focus == hunksPane && m.width >= minSplit && m.width-m.leftWidth()-1 < minSplit
}

func (m *Model) leftWidth() int { return max(40, min(m.width*36/100, 68)) }

// boxes divides the screen between the first line and the last.
func (m *Model) boxes() (b boxes) {
	all := box{0, 1, m.width, max(m.height-2, 1)}
	head := 0
	if all.h >= 12 {
		head = len(m.headLines(m.headWidth()))
	}
	if !m.wide() {
		switch m.focus {
		case turnsPane:
			b.turns = all
		case filesPane:
			b.head = box{0, all.y, all.w, head}
			b.files = box{0, all.y + head, all.w, all.h - head}
		case hunksPane:
			b.hunks = all
		}
		return b
	}
	left := m.leftWidth()
	upper := max(1, (all.h-1)*3/5)
	b.turns = box{0, all.y, left, upper}
	b.files = box{0, all.y + upper + 1, left, all.h - upper - 1}
	b.head = box{left + 1, all.y, all.w - left - 1, head}
	b.hunks = box{left + 1, all.y + head, all.w - left - 1, all.h - head}
	return b
}

func (m *Model) headWidth() int {
	if m.wide() {
		return m.width - m.leftWidth() - 1
	}
	return m.width
}

// paneHeight is the number of lines that a pane can show below its title.
func (m *Model) paneHeight(p pane) int {
	b := m.boxes()
	h := [...]int{b.turns.h, b.files.h, b.hunks.h}[p]
	if p != turnsPane {
		h--
	}
	return max(h, 1)
}

// View implements tea.Model.
func (m *Model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	if m.opt.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// screen draws everything, line by line.
func (m *Model) screen() string {
	var body []string
	height := max(m.height-2, 1)
	switch {
	case m.help:
		body = m.helpLines(height)
	case m.plan != nil:
		body = m.planLines(height)
	default:
		body = m.bodyLines()
	}
	lines := body
	if m.height >= 3 {
		lines = append(append([]string{m.firstLine()}, body...), m.lastLine())
	}
	if len(lines) > m.height {
		lines = lines[:m.height]
	}
	return strings.Join(lines, "\n")
}

func (m *Model) bodyLines() []string {
	b := m.boxes()
	turns, files, hunks := m.turnLines(b.turns), m.fileLines(b.files), m.hunkLines(b.hunks)
	var head []string
	if b.head.h > 0 {
		head = m.headLines(b.head.w)
	}
	if !m.wide() {
		return append(append(append(turns, head...), files...), hunks...)
	}
	left := append(append(turns, m.look.paint(dim, strings.Repeat("─", b.turns.w))), files...)
	right := append(head, hunks...)
	lines := make([]string, len(left))
	for i := range lines {
		lines[i] = left[i] + m.look.paint(dim, "│") + right[i]
	}
	return lines
}

func (m *Model) firstLine() string {
	left := " cairn review  " + visible(m.opt.Project)
	if m.filter.text != "" {
		left += "  filter: " + visible(m.filter.text)
	}
	n := 0
	for _, r := range m.rows {
		n += min(1, len(r.turnID()))
	}
	right := wording.Count(n, "turn")
	if m.read < len(m.sessions) {
		right = "reading, " + right
	}
	return m.look.paint(bar, between(left, right+" ", m.width))
}

func (r row) turnID() string {
	if r.turn == nil {
		return ""
	}
	return r.turn.ID
}

// hints are the keys that the last line names for each pane.
var hints = [...][]string{
	turnsPane: {"? help", "q quit", "Enter files", "a accept", "x take back", "u undo", "X go back", "/ search", "f filter"},
	filesPane: {"? help", "Esc turns", "Enter hunks", "a accept", "x take back", "u undo", "/ search"},
	hunksPane: {"? help", "Esc files", "[ ] hunk", "a accept", "x take back", "u undo", "{ } file", "s side by side"},
}

// fitting joins as many hints as there is room for.
func fitting(list []string, width int) string {
	text := ""
	for _, hint := range list {
		if longer := text + hint; ansi.StringWidth(longer) <= width {
			text = longer + "  "
		}
	}
	return strings.TrimRight(text, " ")
}

// lastLine is what is typed, under way, or was said; else the most useful keys.
func (m *Model) lastLine() string {
	look, text := bar, fitting(hints[m.focus], m.width-2)
	switch {
	case m.input != nil:
		text = m.input.prompt + m.input.text + "█"
		if ansi.StringWidth(text) > m.width-2 {
			text = lastColumns(text, m.width-2, "")
		}
	case m.working != "":
		text = m.working + "…"
	case m.help:
		text = "any key: back   up down: scroll"
	case m.plan != nil && m.plan.empty():
		text = "Enter: back"
	case m.plan != nil:
		text = "y Enter: do it   n Esc: leave everything as it is   up down: scroll"
	case m.message != "":
		text = m.message
		if m.failed {
			look = bad
		}
	}
	return m.look.paint(look, fit(" "+short(text, m.width-2), m.width))
}

// headLines say who was asked what in the selected turn.
func (m *Model) headLines(width int) []string {
	t := m.turn
	if t == nil || width < 10 {
		return nil
	}
	prompt := visibleLine(t.Prompt)
	if prompt == "" {
		prompt = "(no prompt)"
	}
	lines := []string{}
	for _, line := range wrap(prompt, width-2, maxHead-1) {
		lines = append(lines, m.look.paint(plain, fit(" "+line, width)))
	}
	facts := t.When.In(m.opt.Now().Location()).Format("Mon 2 Jan 15:04")
	if t.Agent != "" {
		facts += "  " + visibleLine(t.Agent)
	}
	if t.Steps > 0 {
		facts += "  " + wording.Count(t.Steps, "step")
	}
	if n := m.counts[markOf(t, "", "")]; n > 0 {
		facts += fmt.Sprintf("  %s accepted", wording.Count(n, "hunk"))
	}
	if t.Reverted {
		facts += "  reverted"
	}
	return append(lines, m.look.paint(dim, fit(" "+short(facts, width-2), width)))
}
