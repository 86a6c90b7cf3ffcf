package review

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-fb9cbc17/cairn/internal/reviewed"
)

// Answers of commands.
type (
	sessionsMsg struct {
		list []*Session
		err  error
	}
	turnsMsg struct {
		sessions []*Session // the list that they are of
		read     int
		turns    []*Turn
		err      error
	}
	marksMsg struct {
		list []reviewed.Mark
		err  error
	}
	filesMsg struct {
		selection int
		files     []File
		path      string // to select
		err       error
	}
	countsMsg struct {
		selection, from int
		files           []File
		err             error
	}
	diffMsg struct {
		picked int
		view   *fileView
		err    error
	}
	takenMsg struct {
		picked int
		names  map[string]bool
		err    error
	}
	savedMsg struct{ err error }
)

func (m *Model) readMarks() tea.Cmd {
	ctx, src := m.ctx, m.opt.Source
	return func() tea.Msg {
		list, err := src.Marks(ctx)
		return marksMsg{list, err}
	}
}

func (m *Model) readSessions() tea.Cmd {
	ctx, opt := m.ctx, m.opt
	return func() tea.Msg {
		if opt.Range != nil {
			return turnsMsg{turns: []*Turn{opt.Range}}
		}
		all, err := opt.Source.Sessions(ctx)
		var list []*Session
		for _, s := range all {
			if opt.Session == "" || s.ID == opt.Session {
				list = append(list, s)
			}
		}
		return sessionsMsg{list, err}
	}
}

// batch is the number of turns after which the list is shown again.
const batch = 30

// readTurns reads the turns of the next sessions, so that those of the newest session are there at
// once and the others follow.
func (m *Model) readTurns() tea.Cmd {
	ctx, src, sessions, read := m.ctx, m.opt.Source, m.sessions, m.read
	return func() tea.Msg {
		msg := turnsMsg{sessions: sessions, read: read}
		wanted := batch
		if read == 0 {
			wanted = 1
		}
		for msg.read < len(sessions) && len(msg.turns) < wanted && msg.err == nil {
			var list []*Turn
			list, msg.err = src.Turns(ctx, sessions[msg.read])
			msg.turns = append(msg.turns, list...)
			msg.read++
		}
		return msg
	}
}

// readFiles reads the files of the selected turn. The file with the path is selected then.
func (m *Model) readFiles(path string) tea.Cmd {
	m.cancel()
	m.cancelOne()
	m.turnCtx, m.cancel = context.WithCancel(m.ctx)
	m.selection++
	m.files, m.view, m.loaded, m.file, m.hunk, m.offset = nil, nil, false, scroll{}, scroll{}, 0
	ctx, src, turn, selection := m.turnCtx, m.opt.Source, m.turn, m.selection
	return func() tea.Msg {
		files, err := src.Files(ctx, turn)
		return filesMsg{selection, files, path, err}
	}
}

// counted is the number of files whose lines are counted by one command.
const counted = 32

// readCounts counts the lines of the files from an index on.
func (m *Model) readCounts(from int) tea.Cmd {
	ctx, src, selection := m.turnCtx, m.opt.Source, m.selection
	files := append([]File(nil), m.files[from:min(from+counted, len(m.files))]...)
	if len(files) == 0 {
		return nil
	}
	return func() tea.Msg {
		msg := countsMsg{selection: selection, from: from, files: files}
		for i := range files {
			if msg.err = ctx.Err(); msg.err == nil {
				msg.err = src.Count(&files[i])
			}
			if msg.err != nil {
				break
			}
		}
		return msg
	}
}

// readDiff reads the selected file.
func (m *Model) readDiff() tea.Cmd {
	m.cancelOne()
	m.view, m.hunk, m.offset = nil, scroll{}, 0
	m.picked++
	f := m.currentFile()
	if f == nil {
		return nil
	}
	m.oneCtx, m.cancelOne = context.WithCancel(m.ctx)
	ctx, src, file, picked := m.oneCtx, m.opt.Source, *f, m.picked
	return func() tea.Msg {
		d, err := src.Diff(ctx, &file)
		if err != nil {
			return diffMsg{picked, nil, err}
		}
		v, err := newFileView(ctx, d)
		return diffMsg{picked, v, err}
	}
}

// readTaken reads which hunks of the file that is shown are taken back. The file is there before it.
func (m *Model) readTaken(file File) tea.Cmd {
	ctx, src, turn, d, picked := m.oneCtx, m.opt.Source, m.turn, m.view.diff, m.picked
	return func() tea.Msg {
		list, err := src.Taken(ctx, turn, &file, d)
		names := make(map[string]bool, len(list))
		for _, name := range list {
			names[name] = true
		}
		return takenMsg{picked, names, err}
	}
}
