package webui

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// entry is one thing of the timeline: exactly one of the pointers is set.
type entry struct {
	Key       string // names it among all entries
	When      time.Time
	Turn      *turn
	Track     *track
	Operation *cairn.Operation
}

// turn is a turn of a session as the page shows it.
type turn struct {
	Session  *session.Session
	Title    string // of the session
	Number   int    // in the session, from 1; 0 = what came before the first prompt
	Agent    string
	Message  string // id of its first message, to which a revert goes
	Prompt   string
	When     time.Time      // of its newest event
	Steps    []session.Step // in their order
	Reverted bool
}

// track is a checkpoint outside of sessions, with the state before it in time. The changes between
// the two are those that no session recorded.
type track struct {
	*cairn.Checkpoint
	Before string // a checkpoint, "" for the first
	Whose  string // the machine that pushed it, "" for this one
}

// history yields the entries of a project, newest first. Each source is read only as
// far as it is needed: sessions come with the time of their last change, so that a
// session is opened when its turn has come, not before. One that cannot be read is told of.
func (p *Project) history(ctx context.Context, tell func(...session.Unread)) iter.Seq2[*entry, error] {
	return func(yield func(*entry, error) bool) {
		sessions, unread, err := p.Sessions.ListAll(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		tell(unread...)
		slices.SortStableFunc(sessions, func(a, b *session.Session) int { return b.Updated.Compare(a.Updated) })
		m := &merge{ctx: ctx, project: p, tell: tell, sessions: sessions, known: make(map[string]bool)}
		checkpoints, stop := iter.Pull2(p.checkpoints(ctx))
		defer stop()
		operations, stop := iter.Pull2(p.Repo.Operations(ctx))
		defer stop()
		m.checkpoints, m.operations = checkpoints, operations
		if err = m.start(); err == nil {
			err = m.run(func(e *entry) bool { return yield(e, nil) })
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// checkpoints yields the checkpoints of this machine, for a remote those that machines have pushed there.
func (p *Project) checkpoints(ctx context.Context) iter.Seq2[*cairn.Checkpoint, error] {
	if !p.Remote {
		return p.Repo.Checkpoints(ctx)
	}
	return p.Repo.Log(ctx, cairn.LogOptions{Fetched: true})
}

// entries yields what a tab of the timeline shows, and perhaps other entries. Operations are a chain of their
// own: for them alone no session is opened and no checkpoint is read.
func (p *Project) entries(ctx context.Context, show string, tell func(...session.Unread)) iter.Seq2[*entry, error] {
	if show != showOperations {
		return p.history(ctx, tell)
	}
	return func(yield func(*entry, error) bool) {
		for op, err := range p.Repo.Operations(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(operationEntry(op), nil) {
				return
			}
		}
	}
}

func operationEntry(op *cairn.Operation) *entry {
	return &entry{Key: "o" + op.ID, When: op.When, Operation: op}
}

// merge brings the sources of a history into one order.
type merge struct {
	ctx         context.Context
	project     *Project
	tell        func(...session.Unread)
	checkpoints func() (*cairn.Checkpoint, error, bool)
	operations  func() (*cairn.Operation, error, bool)

	sessions   []*session.Session // not opened yet
	turns      []*entry           // of opened ones, newest last
	known      map[string]bool    // checkpoints, and states after steps, that entries show; false: a turn begins with it
	shown      string             // state of the checkpoint that was yielded last
	checkpoint *cairn.Checkpoint  // next ones, nil at the end
	operation  *cairn.Operation
}

func (m *merge) start() error {
	if err := m.nextCheckpoint(); err != nil {
		return err
	}
	return m.nextOperation()
}

func (m *merge) nextCheckpoint() error {
	c, err, ok := m.checkpoints()
	if !ok {
		c, err = nil, nil
	}
	m.checkpoint = c
	return err
}

func (m *merge) nextOperation() error {
	op, err, ok := m.operations()
	if !ok {
		op, err = nil, nil
	}
	m.operation = op
	return err
}

func (m *merge) run(yield func(*entry) bool) error {
	for {
		if err := m.open(); err != nil {
			return err
		}
		e, err := m.pop()
		if err != nil || e == nil {
			return err
		}
		if e.Track != nil && m.shownElsewhere(e.Track) {
			continue
		}
		if !yield(e) {
			return nil
		}
	}
}

// shownElsewhere reports whether a checkpoint adds nothing to the other entries: it is the state
// around a step or an operation, or the state that a turn began with, and another entry has that
// state.
func (m *merge) shownElsewhere(t *track) bool {
	around, begins := m.known[t.ID]
	same := m.known[t.Hash] || t.Hash == m.shown || m.checkpoint != nil && t.Hash == m.checkpoint.Hash
	if around || begins && same {
		return true
	}
	m.shown = t.Hash
	return false
}

// head is the time of the newest entry at hand.
func (m *merge) head() (newest time.Time) {
	if m.checkpoint != nil {
		newest = m.checkpoint.When
	}
	if m.operation != nil && m.operation.When.After(newest) {
		newest = m.operation.When
	}
	if n := len(m.turns); n > 0 && m.turns[n-1].When.After(newest) {
		newest = m.turns[n-1].When
	}
	return newest
}

// open opens every session that may have an entry as new as the newest one that was
// read.
func (m *merge) open() error {
	for len(m.sessions) > 0 && !m.sessions[0].Updated.Before(m.head()) {
		s := m.sessions[0]
		m.sessions = m.sessions[1:]
		messages, err := m.project.Sessions.History(m.ctx, s.ID)
		if session.Unreadable(err) && m.ctx.Err() == nil {
			m.tell(session.UnreadOf(s, err))
			continue
		}
		if err != nil {
			return err
		}
		for _, t := range turnsOf(s, messages) {
			m.turns = append(m.turns, t.entry())
			for i := range t.Steps {
				s := &t.Steps[i]
				m.known[s.After.ID], m.known[s.After.Hash] = true, true
				m.known[s.Before.ID] = m.known[s.Before.ID] || i > 0
			}
		}
		slices.SortStableFunc(m.turns, func(a, b *entry) int { return a.When.Compare(b.When) })
	}
	return nil
}

// before is the state before the next entry: that of the checkpoint or the operation
// that came last.
func (m *merge) before() string {
	switch {
	case m.operation != nil && (m.checkpoint == nil || m.operation.When.After(m.checkpoint.When)):
		return m.operation.After
	case m.checkpoint != nil:
		return m.checkpoint.ID
	}
	return ""
}

// tied reports whether the next checkpoint is of the same second. Commits keep whole
// seconds, so either of the two may be the later one. The order within one line is
// certain.
func (m *merge) tied(when time.Time) bool {
	return m.checkpoint != nil && m.checkpoint.When.Equal(when)
}

// pop removes the newest entry that was read, and returns nil if there is none. Entries
// of the same second come in the order operation, turn, checkpoint: commits keep whole
// seconds only, and an operation is newer than the turn that it takes back.
func (m *merge) pop() (*entry, error) {
	head := m.head()
	switch n := len(m.turns); {
	case m.operation != nil && !m.operation.When.Before(head):
		op := m.operation
		m.known[op.Before], m.known[op.After] = true, true
		return operationEntry(op), m.nextOperation()
	case n > 0 && !m.turns[n-1].When.Before(head):
		e := m.turns[n-1]
		m.turns = m.turns[:n-1]
		return e, nil
	case m.checkpoint != nil:
		t := &track{Checkpoint: m.checkpoint}
		err := m.nextCheckpoint()
		t.Before = m.before()
		if from, ok := t.From(); ok {
			t.Whose, t.Before = from.String(), t.ComparedWith()
		} else if t.Before == "" || m.tied(t.When) && t.Parent != "" {
			t.Before = t.Parent
		}
		return &entry{Key: "c" + t.ID, When: t.When, Track: t}, err
	}
	return nil, nil
}

// turnsOf lists the turns of a session.
func turnsOf(s *session.Session, messages []session.Message) []*turn {
	list := session.Turns(messages)
	turns := make([]*turn, len(list))
	title := titleOfAll(s, messages)
	for i := range list {
		t := &list[i]
		turns[i] = &turn{
			Session: s, Title: title, Number: t.Number, Message: t.ID(), Prompt: t.Prompt(), When: t.Last(), Steps: t.Steps(), Reverted: t.Reverted(),
		}
		for j := range t.Messages {
			turns[i].Agent = cmp.Or(turns[i].Agent, agentOf(&t.Messages[j]))
		}
		turns[i].Agent = cmp.Or(turns[i].Agent, s.Agent)
	}
	return turns
}

func (t *turn) entry() *entry {
	return &entry{Key: "t" + t.Session.ID + "/" + t.Message, When: t.When, Turn: t}
}

// matches reports whether the words, ids or paths of an entry contain a text. The text
// is in lower case.
func (e *entry) matches(text string) bool {
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	switch {
	case e.Turn != nil:
		t := e.Turn
		return has(t.Prompt) || has(t.Title) || has(t.Session.ID) || has(t.Agent) || has(modelOf(t.Session)) || slices.ContainsFunc(t.Steps, func(s session.Step) bool {
			return has(s.ID) || strings.HasPrefix(s.After.ID, text) || strings.HasPrefix(s.After.Hash, text) || stepMatches(&s, string(t.Session.Root), text)
		})
	case e.Track != nil:
		return has(e.Track.Message) || has(e.Track.Author) || has(e.Track.Whose) || strings.HasPrefix(e.Track.ID, text) || strings.HasPrefix(e.Track.Hash, text)
	}
	op := e.Operation
	return has(op.Kind) || strings.HasPrefix(op.ID, text) || slices.ContainsFunc(op.Paths, has)
}
