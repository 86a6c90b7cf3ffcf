package review

import (
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/syntax"
)

// hunkLines draws the hunks of the selected file below a title.
func (m *Model) hunkLines(b box) []string {
	if b.h <= 0 {
		return nil
	}
	lines := []string{m.look.paint(heading, fit(" "+m.fileTitle(b.w-2), b.w))}
	switch {
	case m.view == nil:
	case m.splits(b.w):
		lines = m.splitLines(lines, b)
	default:
		m.hunk.show(len(m.view.lines), b.h-1)
		for i := m.hunk.top; i < len(m.view.lines) && len(lines) < b.h; i++ {
			lines = append(lines, m.unifiedLine(i, b.w))
		}
	}
	return filled(lines, b.w, b.h)
}

func (m *Model) splits(width int) bool { return m.split && width >= minSplit }

func (m *Model) fileTitle(width int) string {
	f := m.currentFile()
	if f == nil {
		return ""
	}
	state := ""
	switch {
	case m.view == nil && m.failed:
		state = "  not readable"
	case m.view == nil:
		state = "  reading…"
	case len(m.view.diff.Hunks) > 0:
		state = fmt.Sprintf("  hunk %d of %d", m.currentHunk()+1, len(m.view.diff.Hunks))
	}
	if f.Note != "" {
		state += "  " + f.Note
	}
	return shortPath(visible(f.Change.Path), width-len(state)) + state
}

// headerLine draws the header of a hunk, with its decision.
func (m *Model) headerLine(i, width int) string {
	l := &m.view.lines[i]
	name := m.view.diff.Hunks[l.hunk].ID
	mark := markOf(m.turn, string(m.view.diff.File), name)
	state := ""
	if m.accepted[mark] {
		state = "  ✓ accepted"
	}
	if m.taken[mark] || m.view.taken[name] {
		state += "  ↩ taken back"
	}
	look := hunkHead
	if l.hunk == m.currentHunk() {
		look = selected
		if m.focus == hunksPane {
			look = thisHunk
		}
	}
	return m.look.paint(look, between(short(" "+visible(l.text), width-len(state)), state+" ", width))
}

// unifiedLine draws a line with the numbers of both sides.
func (m *Model) unifiedLine(i, width int) string {
	l := &m.view.lines[i]
	if l.kind == '@' {
		return m.headerLine(i, width)
	}
	gutter := number(l.old) + " " + number(l.new) + " "
	return m.textLine(i, gutter, width)
}

func number(n int) string {
	if n == 0 {
		return "    "
	}
	return fmt.Sprintf("%4d", n)
}

// textLine draws one line of a file: numbers, sign and text.
func (m *Model) textLine(i int, gutter string, width int) string {
	l := &m.view.lines[i]
	edge, around, word := dim, plain, plain
	switch l.kind {
	case '+':
		edge, around, word = added, addedLine, addedWord
	case '-':
		edge, around, word = deleted, deletedLine, deletedWord
	case '\\':
		return m.look.paint(dim, fit(strings.Repeat(" ", len(gutter))+visible(l.text), width))
	}
	if m.focus == hunksPane && i == m.hunk.at {
		edge = cursor
	}
	head := m.look.paint(edge, gutter+string(l.kind)+" ")
	room := width - len(gutter) - 2
	text := fit(m.cut(m.styled(l, around, word)), room)
	if pad := len(text) - len(strings.TrimRight(text, " ")); pad > 0 { // the background goes up to the edge
		text = text[:len(text)-pad] + m.look.paint(around, text[len(text)-pad:])
	}
	return fit(head, len(gutter)+2) + text
}

// maxShown is how many bytes of a line are drawn.
const maxShown = 4096

// styled is the text of a line with tokens and changed words.
func (m *Model) styled(l *diffLine, around, word role) string {
	text := l.text
	if len(text) > maxShown {
		text = text[:maxShown]
	}
	var b strings.Builder
	column, tokens, words := 0, l.tokens, l.words
	for from := 0; from < len(text); {
		kind, to := tokenAt(&tokens, from, len(text))
		look := around
		changed, to := wordAt(&words, from, to)
		if changed {
			look = word
		}
		var piece strings.Builder
		column = writeVisible(&piece, text[from:to], column)
		b.WriteString(sgr(m.look.code(kind, look), piece.String()))
		from = to
	}
	return b.String()
}

// tokenAt returns the kind of the text at a byte, 0 for plain text, and where that kind ends.
func tokenAt(tokens *[]syntax.Token, at, end int) (syntax.Kind, int) {
	for len(*tokens) > 0 && (*tokens)[0].End <= at {
		*tokens = (*tokens)[1:]
	}
	switch {
	case len(*tokens) == 0:
		return 0, end
	case (*tokens)[0].Start > at:
		return 0, min((*tokens)[0].Start, end)
	}
	return (*tokens)[0].Kind, min((*tokens)[0].End, end)
}

// wordAt reports whether the text at a byte is changed, and up to where that is so.
func wordAt(words *[]extent, at, end int) (bool, int) {
	for len(*words) > 0 && (*words)[0].to <= at {
		*words = (*words)[1:]
	}
	switch {
	case len(*words) == 0:
		return false, end
	case (*words)[0].from > at:
		return false, min((*words)[0].from, end)
	}
	return true, min((*words)[0].to, end)
}
