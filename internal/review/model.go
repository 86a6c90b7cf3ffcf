package review

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-fb9cbc17/cairn/internal/reviewed"
)

// Options are what a review begins with.
type Options struct {
	Source  Source
	Project string // name of the directory, for the title
	Now     func() time.Time
	Session string // id of the only one to show, "" = all
	Turn    string // id of the message to begin with, "" = the newest
	Range   *Turn  // shown alone in the place of sessions
	Colours Colours
	Dark    bool // until the terminal answers
	Mouse   bool
}

type pane int

const (
	turnsPane pane = iota
	filesPane
	hunksPane
)

// Model is the state of a review. It belongs to the goroutine of the program.
type Model struct {
	opt           Options
	ctx           context.Context
	width, height int
	look          *palette
	focus         pane

	sessions []*Session
	listed   bool
	read     int // of the sessions, whose turns are in the list
	turns    []*Turn
	rows     []row // of the list: headings, and turns that the filter lets through
	list     scroll
	filter   filter
	keep     spot // where to go back to after a reload

	turn   *Turn // the selected one
	stale  bool  // turn is of a list that is being read again
	files  []File
	loaded bool // files are those of turn
	file   scroll

	view   *fileView // the selected file
	hunk   scroll    // over its lines
	offset int       // columns to the right
	split  bool      // side by side

	accepted map[reviewed.Mark]bool
	taken    map[reviewed.Mark]bool
	counts   map[reviewed.Mark]int // accepted hunks of each turn, and of each file of one

	turnCtx   context.Context    // of the work for the selected turn
	oneCtx    context.Context    // of the work for the selected file
	selection int                // number of the selected turn, for late answers
	picked    int                // number of the selected file
	cancel    context.CancelFunc // ends the work for the selected turn
	cancelOne context.CancelFunc // ends the work for the selected file

	input   *input
	search  string
	help    bool
	helpTop int
	plan    *shownPlan
	working string // what is under way, "" = nothing
	changes bool   // what is under way changes files
	leaving bool   // the review ends after that
	message string
	failed  bool // the message is an error
}

// spot names a selected turn and file.
type spot struct{ session, turn, path string }

// row is a row of the list: the heading of a session, or a turn.
type row struct {
	session *Session
	turn    *Turn // nil: a heading
}

// scroll is the selected line of a pane and the first one that is visible.
type scroll struct{ at, top int }

// show moves the visible part so that the selected line is in it.
func (s *scroll) show(lines, height int) {
	s.at = max(0, min(s.at, lines-1))
	if s.at < s.top {
		s.top = s.at
	}
	if s.at >= s.top+height {
		s.top = s.at - height + 1
	}
	s.top = max(0, min(s.top, lines-height))
}

// New returns a review that has read nothing yet. The context ends all its work.
func New(ctx context.Context, opt Options) *Model {
	m := &Model{opt: opt, ctx: ctx, width: 80, height: 24, accepted: map[reviewed.Mark]bool{}, taken: map[reviewed.Mark]bool{}}
	m.look = paletteFor(opt.Colours, opt.Dark)
	m.cancel, m.cancelOne = func() {}, func() {}
	m.keep = spot{session: opt.Session, turn: opt.Turn}
	return m
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.readMarks(), m.readSessions(), tea.RequestBackgroundColor)
}

// place is what is selected.
func (m *Model) place() spot {
	var p spot
	if m.turn != nil {
		p.session, p.turn = m.turn.Session.ID, m.turn.ID
	}
	if f := m.currentFile(); f != nil {
		p.path = f.Change.Path
	}
	return p
}

func (m *Model) currentFile() *File {
	if m.file.at < len(m.files) {
		return &m.files[m.file.at]
	}
	return nil
}

// currentHunk is the hunk that the selected line belongs to, -1 if there is none.
func (m *Model) currentHunk() int {
	if m.view == nil || m.hunk.at >= len(m.view.lines) {
		return -1
	}
	return m.view.lines[m.hunk.at].hunk
}

// layout rebuilds the rows of the list and keeps the selected turn selected.
func (m *Model) layout() {
	m.rows = m.rows[:0]
	var last *Session
	at := -1
	for _, t := range m.turns {
		if !m.filter.lets(t) {
			continue
		}
		if t.Session != last && t.Session.ID != "" {
			m.rows = append(m.rows, row{session: t.Session})
		}
		last = t.Session
		if t == m.turn {
			at = len(m.rows)
		}
		m.rows = append(m.rows, row{t.Session, t})
	}
	if at >= 0 {
		m.list.at = at
	}
}

// selectRow makes the turn of a row the selected one. A heading stands for the turn after it.
func (m *Model) selectRow(at int) tea.Cmd {
	at = max(0, min(at, len(m.rows)-1))
	for at < len(m.rows) && m.rows[at].turn == nil {
		at++
	}
	if at >= len(m.rows) {
		m.cancel()
		m.turn, m.files, m.view, m.loaded = nil, nil, nil, false
		return nil
	}
	m.list.at = at
	if m.turn == m.rows[at].turn {
		return nil
	}
	m.turn = m.rows[at].turn
	return m.readFiles("")
}

// moveRow selects the turn some turns below or above, and skips headings.
func (m *Model) moveRow(by int) tea.Cmd {
	at := m.list.at
	for by != 0 {
		next := at + sign(by)
		for next >= 0 && next < len(m.rows) && m.rows[next].turn == nil {
			next += sign(by)
		}
		if next < 0 || next >= len(m.rows) {
			break
		}
		at = next
		by -= sign(by)
	}
	if at <= 1 {
		m.list.top = 0 // the heading of the first session
	}
	return m.selectRow(at)
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// selectFile makes a file the selected one.
func (m *Model) selectFile(at int) tea.Cmd {
	at = max(0, min(at, len(m.files)-1))
	if at == m.file.at && m.view != nil {
		return nil
	}
	m.file.at = at
	return m.readDiff()
}
