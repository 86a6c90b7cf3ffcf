package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
)

// slashCommand is a slash command of cairn.
type slashCommand struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Input       *inputHint `json:"input,omitempty"`
}

type inputHint struct {
	Hint string `json:"hint"`
}

var slashCommands = []slashCommand{
	{"cairn-undo", "take back what the last turn changed, or the last N", &inputHint{"[N] [--dry-run]"}},
	{"cairn-redo", "bring back what was taken back", &inputHint{"[N]"}},
	{"cairn-log", "list the turns of this session that changed files", &inputHint{"[N]"}},
	{"cairn-diff", "list what the last turn changed, or the Nth last", &inputHint{"[N]"}},
	{"cairn-status", "tell what undo and redo would do now", nil},
}

// ownCommands is a list of cairn's commands alone.
func ownCommands(session string) []byte {
	return line("session/update", map[string]any{"sessionId": session, "update": map[string]any{
		"sessionUpdate": "available_commands_update", "availableCommands": slashCommands,
	}})
}

// withCommands adds cairn's commands to the agent's list, which stays as it is. It returns nil if
// the line cannot be changed.
func withCommands(m *message, list json.RawMessage) []byte {
	var theirs []struct {
		Name string `json:"name"`
	}
	if m.whole == nil || len(list) == 0 || json.Unmarshal(list, &theirs) != nil {
		return nil
	}
	var more [][]byte
	for _, c := range slashCommands {
		has := false
		for _, t := range theirs {
			has = has || t.Name == c.Name
		}
		if !has {
			more = append(more, bytes.TrimSpace(marshal(c)))
		}
	}
	return extend(m.whole, list, len(theirs) == 0, more)
}

// extend adds elements to a list in a line. The rest of the line stays byte for byte. It returns nil
// if the list cannot be found.
func extend(line []byte, list json.RawMessage, empty bool, more [][]byte) []byte {
	if len(more) == 0 || bytes.Count(line, list) != 1 {
		return nil
	}
	end := bytes.Index(line, list) + len(list) - 1
	var b bytes.Buffer
	b.Write(line[:end])
	if !empty {
		b.WriteByte(',')
	}
	b.Write(bytes.Join(more, []byte{','}))
	b.Write(line[end:])
	return b.Bytes()
}

// withText adds a text to a prompt. A slash command of the agent stays as it is.
func withText(m *message, prompt json.RawMessage, text string) []byte {
	var blocks []json.RawMessage
	if m.whole == nil || json.Unmarshal(prompt, &blocks) != nil || len(blocks) == 0 || strings.HasPrefix(promptText(prompt), "/") {
		return nil
	}
	return extend(m.whole, prompt, false, [][]byte{bytes.TrimSpace(marshal(block{Type: "text", Text: text}))})
}

// running is a command that is being carried out.
type running struct {
	id     json.RawMessage // of the prompt
	ctx    context.Context
	cancel context.CancelFunc
}

const besideATurn = "cairn: nothing was done: a turn was at work when this was typed. Stop it or let it end, then type it again"

// runCommand carries out a prompt that is a command of cairn's. It reports whether it is one.
func (p *proxy) runCommand(m *message, a *asked) bool {
	text := isCommand(promptText(a.params.Prompt))
	if text == "" {
		return false
	}
	s := a.session
	if s.prompted || s.command != nil {
		go p.respond(s.id, m.ID, besideATurn, "end_turn")
		return true
	}
	do := &running{id: m.ID}
	do.ctx, do.cancel = context.WithTimeout(p.ctx, commandBound)
	s.command = do
	p.queue(s, func() { p.carryOut(s, do, text) })
	return true
}

func (p *proxy) carryOut(s *session, do *running, text string) {
	defer do.cancel()
	out := p.askIn(do.ctx, s, event{"event": "typed", "prompt": text, "patience": commandBound.Milliseconds()})
	reason := "end_turn"
	if do.ctx.Err() != nil {
		reason = "cancelled"
	}
	said := out.Text
	if said == "" {
		said = "cairn: " + strings.TrimPrefix(out.Error, "cairn: ")
	}
	p.mu.Lock()
	s.command = nil
	p.mu.Unlock()
	p.respond(s.id, do.id, said, reason)
}

// cancelCommand cancels a command that a notification is about.
func (p *proxy) cancelCommand(m *message) bool {
	var in params
	read(m.Params, &in)
	for _, s := range p.sessions {
		if s.command == nil {
			continue
		}
		meant := s.id == in.Session
		if m.Method != "session/cancel" {
			meant = bytes.Equal(bytes.TrimSpace(in.Request), bytes.TrimSpace(s.command.id))
		}
		if meant {
			s.command.cancel()
			return true
		}
	}
	return false
}

// respond answers a prompt in the agent's place.
func (p *proxy) respond(session string, id json.RawMessage, text, reason string) {
	_ = p.toEditor.send(says(session, text+"\n"), marshal(struct {
		Version string            `json:"jsonrpc"`
		ID      json.RawMessage   `json:"id"`
		Result  map[string]string `json:"result"`
	}{"2.0", id, map[string]string{"stopReason": reason}})) // an editor that is gone needs no answer
}

// says is a message of the agent's in a conversation.
func says(session, text string) []byte {
	return line("session/update", map[string]any{"sessionId": session, "update": map[string]any{
		"sessionUpdate": "agent_message_chunk", "content": block{Type: "text", Text: text},
	}})
}
