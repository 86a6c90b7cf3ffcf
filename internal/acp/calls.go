package acp

import (
	"encoding/json"
	"slices"
	"strings"
)

// call is a call of a tool.
type call struct {
	id, tool  string
	paths     []string
	input     json.RawMessage
	announced int // of the paths
	started   bool
	held      bool // a request of the call waited for the capture before
	over      bool
}

// readers are the kinds of tools that change no file.
var readers = []string{"read", "search", "fetch", "switch_mode"}

func (c *call) writes() bool { return !slices.Contains(readers, c.tool) }

// asksFirst reports whether the tool does nothing before its first request. A call that is a
// sub-agent, for instance, may have run tools by then.
func (c *call) asksFirst() bool {
	return !c.started || slices.Contains([]string{"edit", "execute", "delete", "move"}, c.tool)
}

// agentTells notes what a session/update says of tools and slash commands. The history that an agent
// repeats when it loads a session belongs to no turn.
func (p *proxy) agentTells(m *message, v *verdict) {
	var in params
	read(m.Params, &in)
	s := p.sessions[in.Session]
	if in.Update == nil {
		return
	}
	switch u := in.Update; {
	case u.Kind == "available_commands_update":
		if s != nil {
			s.listed = true
		}
		v.replace = func() []byte { return withCommands(m, u.Commands) }
	case s == nil || !s.prompted || u.Kind != "tool_call" && u.Kind != "tool_call_update" || u.Call == "":
	default:
		c := s.call(u)
		switch u.Status {
		case "in_progress":
			c.started = true
		case "completed", "failed":
			p.endCall(s, c)
		}
	}
}

// call returns the call of an update, which has only the fields that have changed.
func (s *session) call(u *update) *call {
	c := s.calls[u.Call]
	if c == nil {
		c = &call{id: u.Call}
		s.calls[u.Call] = c
		s.order = append(s.order, c)
	}
	if u.Tool != "" {
		c.tool = u.Tool
	}
	if len(u.Input) > 0 {
		c.input = u.Input
	}
	for _, path := range u.paths() {
		if !slices.Contains(c.paths, path) {
			c.paths = append(c.paths, path)
		}
	}
	return c
}

// agentAsks lets a request that leads to a write wait for the capture before.
func (p *proxy) agentAsks(m *message, v *verdict) {
	var in params
	read(m.Params, &in)
	s := p.sessions[in.Session]
	if s == nil || !s.prompted {
		return
	}
	a := &asked{method: m.Method, session: s, params: in}
	switch m.Method {
	case "session/request_permission":
		if in.ToolCall == nil || in.ToolCall.Call == "" {
			return
		}
		a.call = s.call(in.ToolCall)
		if !a.call.writes() {
			return
		}
		v.waitFor(p.hold(s, a.call))
	case "fs/write_text_file":
		v.waitFor(p.holdRequest(a, m, &call{tool: "edit", paths: []string{in.Path}}))
	case "terminal/create":
		input, _ := json.Marshal(map[string]string{"command": strings.Join(append([]string{in.Command}, in.Args...), " ")})
		v.waitFor(p.holdRequest(a, m, &call{tool: "execute", input: input}))
	case "terminal/release":
		if c := s.terminals[in.Terminal]; c != nil {
			delete(s.terminals, in.Terminal)
			p.endCall(s, c)
		}
		return
	default:
		return
	}
	p.asks[m.key()] = a
}

// holdRequest holds a request that names no call. If calls are under way it is one of them, else it
// is a call of its own, which ends with the response.
func (p *proxy) holdRequest(a *asked, m *message, own *call) (wait func()) {
	s := a.session
	if c := s.owner(own); c != nil {
		if len(own.paths) > 0 && !slices.Contains(c.paths, own.paths[0]) {
			c.paths = append(c.paths, own.paths[0])
		}
		if c.input == nil {
			c.input = own.input
		}
		return p.hold(s, c)
	}
	own.id = m.Method + " " + m.key()
	s.calls[own.id], s.order, a.call = own, append(s.order, own), own
	return p.hold(s, own)
}

// owner finds the call that a request belongs to: the newest that names its path, else the newest of
// its kind, else the newest.
func (s *session) owner(r *call) *call {
	tests := []func(*call) bool{
		func(c *call) bool { return len(r.paths) > 0 && slices.Contains(c.paths, r.paths[0]) },
		func(c *call) bool { return c.tool == r.tool },
		func(*call) bool { return true },
	}
	for _, fits := range tests {
		for _, c := range slices.Backward(s.order) {
			if !c.over && c.writes() && fits(c) {
				return c
			}
		}
	}
	return nil
}

// hold begins the step of a call, or adds to its known paths. Beside a call that is under
// way without a request no step begins: its changes so far would be taken for the user's.
func (p *proxy) hold(s *session, c *call) (wait func()) {
	if c.over {
		c.over, c.held = false, false // the agent asks again after a refusal
	}
	if c.held && len(c.paths) == c.announced || !c.held && (!c.asksFirst() || s.silentBeside(c)) {
		return p.await(s.done)
	}
	c.held, c.announced, s.announces = true, len(c.paths), true
	return p.await(p.record(s, "before", c))
}

func (s *session) silentBeside(c *call) bool {
	return slices.ContainsFunc(s.order, func(o *call) bool { return o != c && !o.over && !o.held && o.writes() })
}

// endCall ends the step of a call. The changes of unannounced calls are recorded when none of them
// goes on.
func (p *proxy) endCall(s *session, c *call) {
	switch {
	case c.over || !c.writes():
	case c.held:
		c.over = true
		p.record(s, "after", c)
	default:
		c.over, s.silent = true, true
		if !s.silentBeside(c) {
			p.record(s, "did", c)
		}
	}
}

func (p *proxy) record(s *session, what string, c *call) <-chan struct{} {
	tool := c.tool
	if tool == "" {
		tool = "other"
	}
	e := event{"event": what, "message": s.message, "call": s.message + " " + c.id, "tool": tool, "paths": slices.Clone(c.paths)}
	if len(c.input) > 0 {
		e["input"] = c.input
	}
	return p.enqueue(s, e)
}
