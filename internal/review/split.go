package review

import (
	"github.com/charmbracelet/x/ansi"
)

// pair is a row of two sides: indexes of lines, -1 for nothing. A header has the same on both.
type pair struct{ left, right int }

// pairs puts deleted lines beside the added ones of the same change.
func (v *fileView) pairs() []pair {
	var out []pair
	for i := 0; i < len(v.lines); {
		deleted, added := v.run(i)
		if added == i {
			out = append(out, pair{i, i})
			i++
			continue
		}
		for n := range max(deleted-i, added-deleted) {
			p := pair{-1, -1}
			if i+n < deleted {
				p.left = i + n
			}
			if deleted+n < added {
				p.right = deleted + n
			}
			out = append(out, p)
		}
		i = added
	}
	return out
}

// line is the line that a row stands for.
func (p pair) line() int {
	if p.left >= 0 {
		return p.left
	}
	return p.right
}

// rowOf is the row with a line.
func rowOf(rows []pair, line int) int {
	for i, p := range rows {
		if p.left == line || p.right == line {
			return i
		}
	}
	return 0
}

// splitLines draws the hunks with the old side at the left and the new at the right.
func (m *Model) splitLines(lines []string, b box) []string {
	rows := m.view.rows
	s := scroll{rowOf(rows, m.hunk.at), m.hunk.top}
	s.show(len(rows), b.h-1)
	m.hunk.top = s.top
	left := (b.w - 1) / 2
	right := b.w - 1 - left
	for i := s.top; i < len(rows) && len(lines) < b.h; i++ {
		p := rows[i]
		if p.left == p.right && m.view.lines[p.left].kind == '@' {
			lines = append(lines, m.headerLine(p.left, b.w))
			continue
		}
		lines = append(lines, m.side(p.left, left, true, i == s.at)+m.look.paint(dim, "│")+m.side(p.right, right, false, i == s.at))
	}
	return lines
}

// side draws one side of a row.
func (m *Model) side(i, width int, old, isSelected bool) string {
	if i < 0 {
		return fit("", width)
	}
	l := &m.view.lines[i]
	n := l.new
	if old && l.kind != '+' {
		n = l.old
	}
	line := m.textLine(i, number(n)+" ", width)
	if isSelected && m.focus == hunksPane && i != m.hunk.at {
		return m.look.paint(cursor, number(n)) + ansi.Cut(line, 4, width)
	}
	return line
}

// moveHunkLine moves the selection of the hunks by rows of the screen.
func (m *Model) moveHunkLine(by int) {
	if m.view == nil || len(m.view.lines) == 0 {
		return
	}
	if !m.splits(m.boxes().hunks.w) {
		m.hunk.at = max(0, min(m.hunk.at+by, len(m.view.lines)-1))
		return
	}
	rows := m.view.rows
	m.hunk.at = rows[max(0, min(rowOf(rows, m.hunk.at)+by, len(rows)-1))].line()
}

// cut drops the columns to the left of the visible part.
func (m *Model) cut(text string) string {
	if m.offset == 0 {
		return text
	}
	return ansi.TruncateLeft(text, m.offset, "")
}
