package review

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/seed-fb9cbc17/cairn/internal/reviewed"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.ColorProfileMsg:
		m.opt.Colours = coloursOf(msg.Profile)
		m.look = paletteFor(m.opt.Colours, m.opt.Dark)
	case tea.BackgroundColorMsg:
		m.opt.Dark = msg.IsDark()
		m.look = paletteFor(m.opt.Colours, m.opt.Dark)
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.MouseMsg:
		return m, m.mouse(msg)
	default:
		return m, m.answer(msg)
	}
	return m, nil
}

func coloursOf(p colorprofile.Profile) Colours {
	switch {
	case p >= colorprofile.ANSI256:
		return ManyColours
	case p == colorprofile.ANSI:
		return SixteenColours
	}
	return NoColours
}

// answer takes the answer of a command.
func (m *Model) answer(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case sessionsMsg:
		return m.gotSessions(msg)
	case turnsMsg:
		return m.gotTurns(msg)
	case marksMsg:
		m.fail(msg.err)
		m.gotMarks(msg.list)
	case filesMsg:
		return m.gotFiles(msg)
	case countsMsg:
		return m.gotCounts(msg)
	case diffMsg:
		return m.gotDiff(msg)
	case takenMsg:
		if msg.picked == m.picked && m.view != nil {
			m.fail(msg.err)
			m.view.taken = msg.names
		}
	case savedMsg:
		if msg.err != nil {
			m.fail(msg.err)
			return m.readMarks()
		}
	case chosenMsg:
		return m.gotChosen(msg)
	case planMsg:
		m.gotPlan(msg)
	case doneMsg:
		return m.gotDone(msg)
	}
	return nil
}

// fail shows an error. The end of work for an earlier selection is none.
func (m *Model) fail(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		m.message, m.failed = visibleLine(wording.Plain(err)), true
	}
}

func (m *Model) say(text string) { m.message, m.failed = text, false }

func (m *Model) gotSessions(msg sessionsMsg) tea.Cmd {
	m.fail(msg.err)
	m.sessions, m.listed, m.read, m.turns = msg.list, true, 0, nil
	m.layout()
	if len(m.sessions) == 0 {
		m.stale = false
		return m.selectRow(0)
	}
	return m.readTurns()
}

func (m *Model) gotTurns(msg turnsMsg) tea.Cmd {
	if msg.sessions != nil && (len(m.sessions) == 0 || msg.sessions[0] != m.sessions[0]) {
		return nil // of a list that was read again meanwhile
	}
	m.fail(msg.err)
	m.read, m.listed = msg.read, true
	m.turns = append(m.turns, msg.turns...)
	m.layout()
	var more tea.Cmd
	if m.read < len(m.sessions) && msg.err == nil {
		more = m.readTurns()
	}
	return tea.Batch(m.selectAfterReading(), more)
}

// selectAfterReading selects what was selected before the list was read again, or else the first
// turn.
func (m *Model) selectAfterReading() tea.Cmd {
	if at := slices.IndexFunc(m.rows, m.isKept); at >= 0 {
		path := m.keep.path
		m.keep, m.stale = spot{}, false
		m.turn, m.list.at = m.rows[at].turn, at
		return m.readFiles(path)
	}
	if (m.turn == nil || m.stale) && (m.keep.turn == "" || m.read >= len(m.sessions)) {
		m.turn, m.stale = nil, false
		return m.selectRow(m.list.at)
	}
	return nil
}

// isKept reports whether a row was selected before the list was read again.
func (m *Model) isKept(r row) bool {
	return r.turn != nil && m.keep.turn != "" && r.turn.ID == m.keep.turn && r.session.ID == m.keep.session
}

func (m *Model) gotMarks(list []reviewed.Mark) {
	clear(m.accepted)
	clear(m.taken)
	for _, mark := range list {
		into := m.accepted
		if mark.Operation != "" {
			into, mark.Operation = m.taken, ""
		}
		into[mark] = true
	}
	m.count()
}

// count counts the accepted hunks of turns and files.
func (m *Model) count() {
	m.counts = make(map[reviewed.Mark]int)
	for mark := range m.accepted {
		if mark.Path == "" {
			continue
		}
		mark.Hunk = ""
		m.counts[mark]++
		mark.Path = ""
		m.counts[mark]++
	}
}

func (m *Model) gotFiles(msg filesMsg) tea.Cmd {
	if msg.selection != m.selection {
		return nil
	}
	m.fail(msg.err)
	m.files, m.loaded = msg.files, true
	if len(m.files) == 0 {
		m.focus = turnsPane
	}
	m.file.at = max(0, slices.IndexFunc(m.files, func(f File) bool { return f.Change.Path == msg.path }))
	return tea.Batch(m.readDiff(), m.readCounts(0))
}

func (m *Model) gotDiff(msg diffMsg) tea.Cmd {
	if msg.picked != m.picked {
		return nil
	}
	m.fail(msg.err)
	m.view = msg.view
	if f := m.currentFile(); f != nil && m.view != nil {
		return m.readTaken(*f)
	}
	return nil
}

func (m *Model) gotCounts(msg countsMsg) tea.Cmd {
	if msg.selection != m.selection {
		return nil
	}
	copy(m.files[msg.from:], msg.files)
	m.fail(msg.err)
	if msg.err != nil {
		return nil
	}
	return m.readCounts(msg.from + len(msg.files))
}
