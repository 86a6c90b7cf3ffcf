package review

import (
	tea "charm.land/bubbletea/v2"
)

// helpKeys is the text of the help. Each pair is a key and what it does.
var helpKeys = [][2]string{
	{"up down, k j", "one line up or down"},
	{"PgUp PgDn, b space", "one page"},
	{"Home End, g G", "first, last"},
	{"Enter, right, l", "to the files, then to the hunks"},
	{"Esc, left, h", "back"},
	{"Tab", "next pane"},
	{"[ ]", "hunk before, next hunk"},
	{"{ }", "file before, next file"},
	{"< >", "scroll the lines to the side"},
	{"", ""},
	{"a", "accept the hunk, the file or the turn; again: no longer"},
	{"x", "take back the hunk, the file or this turn only"},
	{"X", "go back to before the turn, with all later turns"},
	{"u, Ctrl-R", "undo, redo the last operation"},
	{"", "what changes files shows its plan first"},
	{"", ""},
	{"s", "side by side (from 100 columns)"},
	{"/ n N", "search in the pane, next, previous"},
	{"f", "filter: session:ID agent:NAME path:PART words"},
	{"R", "read everything again"},
	{"m", "give the mouse to the terminal, or take it"},
	{"q, Ctrl-C", "quit"},
	{"Ctrl-Z", "to the shell; fg comes back"},
}

// key takes a key.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.input != nil:
		return m.inputKey(k)
	case k.String() == "ctrl+c":
		return tea.Quit
	case m.help:
		m.helpKey(k)
		return nil
	case m.plan != nil:
		return m.planKey(k)
	}
	m.message = ""
	if cmd, known := m.commandKey(k.String()); known {
		return cmd
	}
	return m.moveKey(k.String())
}

func (m *Model) helpKey(k tea.KeyPressMsg) {
	switch k.String() {
	case "down", "j", "pgdown", "space":
		m.helpTop++
	case "up", "k", "pgup", "b":
		m.helpTop--
	default:
		m.help, m.helpTop = false, 0
	}
}

func (m *Model) planKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "y", "enter":
		if m.plan.empty() {
			m.plan = nil
			return nil
		}
		return m.carryOut()
	case "n", "esc", "q":
		m.plan = nil
		m.say("nothing was changed")
	case "down", "j":
		m.plan.top++
	case "up", "k":
		m.plan.top--
	case "pgdown", "space":
		m.plan.top += m.height / 2
	case "pgup", "b":
		m.plan.top -= m.height / 2
	}
	return nil
}

// commandKey takes the keys that do something.
func (m *Model) commandKey(key string) (cmd tea.Cmd, known bool) {
	switch key {
	case "q":
		return m.leave(), true
	case "ctrl+z":
		return tea.Suspend, true
	case "?", "f1":
		m.help = true
	case "a":
		return m.choose(true), true
	case "x":
		return m.choose(false), true
	case "X":
		return m.goBack(), true
	case "u":
		return m.makePlan(Action{Verb: Undo}), true
	case "ctrl+r":
		return m.makePlan(Action{Verb: Redo}), true
	case "R":
		return tea.Batch(m.readMarks(), m.reload()), true
	case "s":
		m.split = !m.split
		if m.split && m.width < minSplit {
			m.split = false
			m.say("side by side takes 100 columns")
		}
	case "m":
		m.opt.Mouse = !m.opt.Mouse
	case "/":
		m.ask("/", "", m.setSearch)
	case "f":
		m.ask("filter: ", m.filter.text, m.setFilter)
	case "n":
		return m.find(1), true
	case "N":
		return m.find(-1), true
	default:
		return nil, false
	}
	return nil, true
}

// leave ends the review, but not in the midst of a change.
func (m *Model) leave() tea.Cmd {
	if !m.changes {
		return tea.Quit
	}
	m.leaving, m.working = true, "changing files, then the end"
	return nil
}

func (m *Model) goBack() tea.Cmd {
	switch {
	case m.turn == nil:
		return nil
	case m.turn.Session.ID == "":
		m.say("these are two checkpoints: x takes back what lies between")
		return nil
	}
	return m.makePlan(Action{Verb: GoBack, Turn: m.turn})
}

// moveKey takes the keys that go elsewhere.
func (m *Model) moveKey(key string) tea.Cmd {
	page := max(m.paneHeight(m.focus)-1, 1)
	switch key {
	case "up", "k":
		return m.move(-1)
	case "down", "j":
		return m.move(1)
	case "pgup", "b":
		return m.move(-page)
	case "pgdown", "space":
		return m.move(page)
	case "home", "g":
		return m.move(-1 << 30)
	case "end", "G":
		return m.move(1 << 30)
	case "enter", "right", "l":
		m.focusOn(m.focus + 1)
	case "esc", "left", "h":
		m.focusOn(m.focus - 1)
	case "tab":
		m.focusOn((m.focus + 1) % (hunksPane + 1))
	case "shift+tab":
		m.focusOn((m.focus + hunksPane) % (hunksPane + 1))
	case "]":
		m.nextHunk(1)
	case "[":
		m.nextHunk(-1)
	case "}":
		return m.selectFile(m.file.at + 1)
	case "{":
		return m.selectFile(m.file.at - 1)
	case ">":
		m.offset += 8
	case "<":
		m.offset = max(0, m.offset-8)
	}
	return nil
}

// focusOn gives the keyboard to a pane, if it has something to select.
func (m *Model) focusOn(p pane) {
	p = max(turnsPane, min(p, hunksPane))
	if p > turnsPane && (m.turn == nil || m.loaded && len(m.files) == 0) {
		return
	}
	m.focus = p
}

// move moves the selection of the pane with the keyboard.
func (m *Model) move(by int) tea.Cmd {
	switch m.focus {
	case turnsPane:
		return m.moveRow(by)
	case filesPane:
		return m.selectFile(m.file.at + by)
	}
	m.moveHunkLine(by)
	return nil
}

// nextHunk selects the hunk after or before the current one.
func (m *Model) nextHunk(by int) {
	if i := m.currentHunk(); i >= 0 {
		next := max(0, min(i+by, len(m.view.starts)-1))
		m.hunk.at = m.view.starts[next]
		m.hunk.top = max(m.hunk.top, min(m.hunk.at, len(m.view.lines)-m.paneHeight(hunksPane)))
		if end := m.hunkEnd(next); end > m.hunk.top+m.paneHeight(hunksPane) {
			m.hunk.top = m.hunk.at
		}
	}
}

// hunkEnd is the line after a hunk.
func (m *Model) hunkEnd(i int) int {
	if i+1 < len(m.view.starts) {
		return m.view.starts[i+1]
	}
	return len(m.view.lines)
}
