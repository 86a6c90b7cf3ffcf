package acp

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/hooks"
)

// session is a session of the protocol. The proxy's lock guards it.
type session struct {
	id, dir string
	done    <-chan struct{} // closed when all events so far have been carried out

	prompted bool   // a turn is under way
	message  string // of the turn
	calls    map[string]*call
	order    []*call // the same, oldest first

	terminals map[string]*call // calls that end with their terminal

	announces bool // the agent has asked before a tool wrote
	silent    bool // a tool ran without a request

	command *running // a command of cairn's that is being carried out
	report  string   // of what went back, until the agent is told

	listed bool     // the agent has sent its commands
	notes  []string // for the user
	told   bool     // of a failure
}

// event is an event of the neutral protocol of package hooks.
type event map[string]any

// answer is what hooks answer to an event.
type answer struct {
	OK      bool   `json:"ok"`
	Error   string `json:"error"`
	Text    string `json:"text"`
	Report  string `json:"report"`
	Handled bool   `json:"handled"`
}

// meetSession begins to record a session that the agent has opened. A fork has an undo of its own.
func (p *proxy) meetSession(a *asked, r *results, v *verdict) {
	id := r.Session
	if id == "" || a.method == "session/load" || a.method == "session/resume" {
		id = a.params.Session
	}
	if id == "" {
		return
	}
	s := p.sessions[id]
	if s == nil {
		s = &session{id: id, terminals: make(map[string]*call)}
		p.sessions[id] = s
	}
	s.dir = a.params.Dir
	begun := event{"event": "session"}
	if len(a.params.Directories) > 0 {
		begun["directories"] = a.params.Directories
	}
	p.enqueue(s, begun)
	if !s.listed {
		v.after = append(v.after, ownCommands(id)...)
	}
}

// beginTurn records a prompt. The prompt waits for the report that goes along with it and, unless the
// agent announces every tool that writes, for the capture of the state before the turn.
func (p *proxy) beginTurn(a *asked, m *message, v *verdict) {
	s := a.session
	p.endTurn(s) // of an agent that takes a prompt before the end of the last one
	p.turns++
	s.message = p.began.UTC().Format(time.RFC3339Nano) + "-" + strconv.Itoa(p.turns)
	s.prompted, s.calls, s.order = true, make(map[string]*call), nil
	v.waitFor(p.await(p.enqueue(s, event{"event": "news"})))
	done := p.enqueue(s, event{"event": "prompt", "prompt": promptText(a.params.Prompt), "message": s.message, "final": true, "told": true})
	if s.silent || !s.announces || s.command != nil {
		v.waitFor(p.await(done))
	}
	v.passed = append(v.passed, func() { p.tellUser(s) })
	v.replace = func() []byte {
		p.mu.Lock()
		defer p.mu.Unlock()
		return s.tellAgent(m, a.params.Prompt)
	}
}

// tellUser sends the notes of all events that the prompt has waited for.
func (p *proxy) tellUser(s *session) {
	p.mu.Lock()
	notes := s.popNotes()
	p.mu.Unlock()
	_ = p.toEditor.send(notes) // an editor that is gone needs none
}

// tellAgent returns a prompt with the report, nil if there is none or the prompt takes none.
func (s *session) tellAgent(m *message, prompt json.RawMessage) []byte {
	if s.report == "" {
		return nil
	}
	told := withText(m, prompt, s.report)
	if told != nil {
		s.report = ""
	}
	return told
}

// endTurn ends the open steps of a turn. The result waits until that is recorded.
func (p *proxy) endTurn(s *session) (wait func()) {
	if !s.prompted {
		return func() {}
	}
	for _, c := range s.order {
		if !c.over && !c.held && c.writes() {
			c.over = true
			p.record(s, "did", c)
		}
	}
	s.prompted, s.calls, s.order = false, nil, nil
	clear(s.terminals)
	return p.await(p.enqueue(s, event{"event": "stop"}))
}

// enqueue carries out an event after all earlier ones of the session.
func (p *proxy) enqueue(s *session, e event) (done <-chan struct{}) {
	return p.queue(s, func() { p.send(s, e) })
}

func (p *proxy) queue(s *session, f func()) (done <-chan struct{}) {
	before, mine := s.done, make(chan struct{})
	s.done = mine
	go func() {
		defer close(mine)
		if before != nil {
			<-before
		}
		f()
	}()
	return mine
}

// send carries out an event and notes for the user what went wrong, once in a session.
func (p *proxy) send(s *session, e event) {
	out := p.askIn(p.ctx, s, e)
	p.mu.Lock()
	defer p.mu.Unlock()
	if out.Report != "" {
		s.report = strings.TrimSpace(s.report + "\n\n" + out.Report)
	}
	switch {
	case !out.OK && !s.told:
		s.told = true
		text := strings.TrimPrefix(out.Error, "cairn: ")
		if !strings.HasPrefix(text, "cairn") {
			text = "cairn could not record a part of this session, which cannot be taken back: " + text
		}
		s.notes = append(s.notes, text)
		p.Tell(text)
	case out.OK && out.Text != "" && e["event"] == "session":
		s.notes = append(s.notes, out.Text)
	}
}

// askIn carries out an event.
func (p *proxy) askIn(ctx context.Context, s *session, e event) answer {
	p.mu.Lock()
	e["cwd"], e["session"] = s.dir, s.id
	name := p.name
	p.mu.Unlock()
	out := answer{Error: "there is no answer"}
	data, err := json.Marshal(e)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	if err := json.Unmarshal(p.Record(ctx, name, data), &out); err != nil {
		out.Error = err.Error()
	}
	return out
}

// await returns a function that waits for a capture, but never longer than the bound.
func (p *proxy) await(done <-chan struct{}) func() {
	return func() {
		if done == nil {
			return
		}
		select {
		case <-done:
			return
		default:
		}
		timer := time.NewTimer(p.Bound)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
		}
	}
}

// popNotes returns the notes for the user as one message.
func (s *session) popNotes() []byte {
	if len(s.notes) == 0 {
		return nil
	}
	text := strings.Join(s.notes, "\n\n")
	s.notes = nil
	return says(s.id, text+"\n\n")
}

// isCommand returns the command that a prompt is, "" for none. A prompt that begins with the name of
// a slash command may have further lines and parts.
func isCommand(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	switch {
	case hooks.IsCommand(text):
		return strings.TrimSpace(text)
	case strings.HasPrefix(strings.ToLower(first), "/cairn-") && hooks.IsCommand(first):
		return first
	}
	return ""
}
