package review

import (
	tea "charm.land/bubbletea/v2"
)

// wheelLines is how far a turn of the wheel goes.
const wheelLines = 3

// mouse takes the wheel and clicks: a click selects what it hits.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	if m.help || m.plan != nil || m.input != nil {
		return nil
	}
	at := msg.Mouse()
	b := m.boxes()
	p := turnsPane
	switch {
	case b.files.holds(at.X, at.Y):
		p = filesPane
	case b.hunks.holds(at.X, at.Y):
		p = hunksPane
	case !b.turns.holds(at.X, at.Y):
		return nil
	}
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return m.wheel(p, at.Button)
	case tea.MouseClickMsg:
		if at.Button == tea.MouseLeft {
			return m.click(p, at.Y, b)
		}
	}
	return nil
}

func (m *Model) wheel(p pane, button tea.MouseButton) tea.Cmd {
	by := 0
	switch button {
	case tea.MouseWheelUp:
		by = -1
	case tea.MouseWheelDown:
		by = 1
	}
	if by == 0 {
		return nil
	}
	m.focusOn(p)
	if p == hunksPane {
		by *= wheelLines
	}
	return m.move(by)
}

func (m *Model) click(p pane, y int, b boxes) tea.Cmd {
	m.focusOn(p)
	switch m.focus {
	case turnsPane:
		if i := m.list.top + y - b.turns.y; i < len(m.rows) {
			return m.selectRow(i)
		}
	case filesPane:
		if i := m.file.top + y - b.files.y - 1; y > b.files.y && i < len(m.files) {
			return m.selectFile(i)
		}
	case hunksPane:
		if y > b.hunks.y && m.view != nil {
			m.hitLine(m.hunk.top+y-b.hunks.y-1, b.hunks.w)
		}
	}
	return nil
}

// hitLine selects a row of the hunks.
func (m *Model) hitLine(row, width int) {
	if m.splits(width) {
		if row < len(m.view.rows) {
			m.hunk.at = m.view.rows[row].line()
		}
	} else if row < len(m.view.lines) {
		m.hunk.at = row
	}
}
