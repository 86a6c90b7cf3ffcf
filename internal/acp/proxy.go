package acp

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"
)

// Options says how turns are recorded. Record, Name and Tell are required.
type Options struct {
	// Record carries out one event of the neutral protocol of package hooks, for an agent, and
	// returns the line of the answer.
	Record func(ctx context.Context, agent string, event []byte) []byte

	// Name is the agent's name until the agent tells its own.
	Name string

	// Tell tells the user something beside the conversation.
	Tell func(text string)

	// Bound is how long a message waits for a capture, 0 = DefaultBound.
	Bound time.Duration
}

// DefaultBound is longer than the deadline of one event.
const DefaultBound = 25 * time.Second

// commandBound is how long the user waits for an undo.
const commandBound = 10 * time.Minute

// Streams are the ends that the proxy connects.
type Streams struct {
	FromEditor io.Reader
	ToEditor   io.Writer
	ToAgent    io.WriteCloser
	FromAgent  io.ReadCloser
}

// proxy is the state between an editor and an agent.
type proxy struct {
	Options
	ctx      context.Context
	began    time.Time
	toEditor writer
	toAgent  writer

	mu       sync.Mutex // for all below
	off      bool       // the agent speaks a version that is not recorded
	name     string     // of the agent
	turns    int
	sessions map[string]*session
	asked    map[string]*asked // requests of the editor, by their ids
	asks     map[string]*asked // requests of the agent
}

// asked is a request whose response is awaited.
type asked struct {
	method  string
	session *session
	params  params
	call    *call // that ends with the response
}

// Run passes messages on until the agent closes its stream. At the end of the editor's stream the
// agent's input is closed, and the agent decides when to end.
func Run(ctx context.Context, s Streams, opt Options) {
	if opt.Bound <= 0 {
		opt.Bound = DefaultBound
	}
	p := &proxy{
		Options: opt, ctx: ctx, began: time.Now(), name: agentName(opt.Name),
		toEditor: writer{out: s.ToEditor}, toAgent: writer{out: s.ToAgent},
		sessions: make(map[string]*session), asked: make(map[string]*asked), asks: make(map[string]*asked),
	}
	go func() {
		_ = pump(s.FromEditor, &p.toAgent, p.fromEditor) // an agent that reads no more has ended
		s.ToAgent.Close()
	}()
	if pump(s.FromAgent, &p.toEditor, p.fromAgent) != nil {
		s.FromAgent.Close() // the editor is gone: the agent's next write fails, as it would without a proxy
		s.ToAgent.Close()
	}
	p.endAll()
}

// endAll ends all open steps: the agent is gone.
func (p *proxy) endAll() {
	p.mu.Lock()
	var waits []func()
	for _, s := range p.sessions {
		if s.command != nil {
			s.command.cancel()
		}
		p.endTurn(s)
		waits = append(waits, p.await(p.enqueue(s, event{"event": "end"})))
	}
	p.mu.Unlock()
	for _, wait := range waits {
		wait()
	}
}

// fromEditor decides about a line of the editor.
func (p *proxy) fromEditor(list []*message) verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	var v verdict
	for _, m := range list {
		switch {
		case m.request():
			p.editorAsks(m, &v)
		case m.response():
			p.editorAnswers(m)
		case m.Method == "session/cancel" || m.Method == "$/cancel_request":
			v.drop = p.cancelCommand(m) && m.whole != nil
		}
	}
	return v
}

// editorAsks notes a request of the editor and begins the turn of a prompt.
func (p *proxy) editorAsks(m *message, v *verdict) {
	a := &asked{method: m.Method}
	switch m.Method {
	case "initialize", "session/new", "session/load", "session/resume", "session/fork":
		read(m.Params, &a.params)
	case "session/prompt", "session/close":
		read(m.Params, &a.params)
		if a.session = p.sessions[a.params.Session]; a.session == nil {
			return
		}
	default:
		return
	}
	switch {
	case p.off:
		return
	case m.Method == "session/prompt" && m.whole != nil && p.runCommand(m, a):
		v.drop = true
		return
	case m.Method == "session/prompt":
		p.beginTurn(a, m, v)
	case m.Method == "session/close":
		p.endTurn(a.session)
		p.enqueue(a.session, event{"event": "end"})
	}
	p.asked[m.key()] = a
}

// editorAnswers ends calls whose request the editor has carried out or refused.
func (p *proxy) editorAnswers(m *message) {
	a := p.asks[m.key()]
	if a == nil {
		return
	}
	delete(p.asks, m.key())
	var r results
	read(m.Result, &r)
	switch {
	case a.method == "session/request_permission":
		if a.call != nil && a.refused(&r) {
			p.endCall(a.session, a.call)
		}
	case a.method == "terminal/create" && a.call != nil && r.Terminal != "":
		a.session.terminals[r.Terminal] = a.call
	case a.call != nil:
		p.endCall(a.session, a.call)
	}
}

// refused reports whether the user does not want the call.
func (a *asked) refused(r *results) bool {
	if r.Outcome.Outcome != "selected" {
		return true
	}
	for _, o := range a.params.Options {
		if o.ID == r.Outcome.Option {
			return strings.HasPrefix(o.Kind, "reject")
		}
	}
	return false
}

// fromAgent decides about a line of the agent.
func (p *proxy) fromAgent(list []*message) verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	var v verdict
	for _, m := range list {
		switch {
		case m.response():
			p.agentAnswers(m, &v)
		case p.off:
		case m.Method == "session/update":
			p.agentTells(m, &v)
		case m.request():
			p.agentAsks(m, &v)
		}
	}
	return v
}

// agentAnswers meets sessions and ends turns.
func (p *proxy) agentAnswers(m *message, v *verdict) {
	a := p.asked[m.key()]
	if a == nil {
		return
	}
	delete(p.asked, m.key())
	var r results
	read(m.Result, &r)
	switch a.method {
	case "initialize":
		p.meetAgent(&r)
	case "session/prompt":
		v.waitFor(p.endTurn(a.session))
		v.before = func() []byte {
			p.mu.Lock()
			defer p.mu.Unlock()
			return a.session.popNotes()
		}
	case "session/close":
		if m.Error == nil { // an agent that refuses goes on with the session
			delete(p.sessions, a.session.id)
		}
	default:
		if m.Error == nil && !p.off {
			p.meetSession(a, &r, v)
		}
	}
}

// meetAgent notes the name and the version of the protocol that the agent has chosen.
func (p *proxy) meetAgent(r *results) {
	if r.Agent.Name != "" {
		p.name = agentName(r.Agent.Name)
	}
	if r.Version > 1 {
		p.off = true
		p.Tell("the agent speaks a later version of the Agent Client Protocol, so nothing is recorded")
	}
}

// agentName is a name for records, which never is that of an agent with hooks of its own.
func agentName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, name)
	if name = strings.Trim(name, "-"); name == "" || name == "acp" {
		return "acp"
	}
	return strings.TrimSuffix(name[:min(len(name), 36)], "-acp") + "-acp"
}

func (v *verdict) waitFor(wait func()) {
	if before := v.wait; before != nil {
		v.wait = func() { before(); wait() }
		return
	}
	v.wait = wait
}

// line is a message as a line.
func line(method string, params any) []byte {
	return marshal(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
}

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return nil // the values are texts, and RawMessages that were parsed
	}
	return append(data, '\n')
}
