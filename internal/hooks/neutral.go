package hooks

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// neutral is an event of the neutral protocol, see the package comment.
type neutral struct {
	Event   string          `json:"event"`
	Dir     string          `json:"cwd"`
	Further []string        `json:"directories"`
	Session string          `json:"session"`
	Parent  string          `json:"parent"`
	Title   string          `json:"title"`
	Model   string          `json:"model"`
	Message string          `json:"message"`
	Prompt  string          `json:"prompt"`
	Call    string          `json:"call"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	Paths   []string        `json:"paths"`
	Running []string        `json:"running"`

	Count      int    `json:"count"`
	DryRun     bool   `json:"dryRun"`
	Outside    bool   `json:"outside"`
	Part       string `json:"part"`
	Start      bool   `json:"start"`
	NewSession string `json:"newSession"`
	Patience   int64  `json:"patience"` // milliseconds
	Final      bool   `json:"final"`
	Told       bool   `json:"told"`
}

// maxPatience bounds what an adapter can ask for.
const maxPatience = 24 * time.Hour

var neutralNames = map[string]kind{
	"session": sessionBegin, "news": news, "prompt": prompt, "before": before, "after": after, "did": did, "stop": stop, "end": sessionEnd,
	"undo": command, "redo": command, "log": command, "diff": command,
	"revert": command, "unrevert": command, "fork": command, "status": command,
}

func decodeNeutral(data []byte) (*event, error) {
	var n neutral
	wrong, err := unmarshalTyped(data, &n)
	if err != nil {
		return nil, err
	}
	e := &event{
		kind: neutralNames[n.Event], name: n.Event, session: n.Session, parent: n.Parent, dir: n.Dir, further: n.Further, title: n.Title, model: n.Model,
		message: n.Message, prompt: n.Prompt, call: n.Call, tool: n.Tool, shell: shellCommand(n.Tool, n.Input), running: n.Running,
		final: n.Final, told: n.Told,
		reads: readsOnly(n.Tool), paths: append(toolPaths(n.Dir, n.Tool, n.Input), n.Paths...),
	}
	if n.Patience > 0 && n.Patience <= maxPatience.Milliseconds() {
		e.waits = time.Duration(n.Patience) * time.Millisecond
	}
	if n.Event == "typed" {
		if do := parseCommand(strings.TrimSpace(n.Prompt)); do != nil {
			e.kind, e.do, e.said = command, do, true
		}
		return e, nil
	}
	switch e.kind {
	case prompt:
		if n.Message == "" {
			return nil, fmt.Errorf("%w: a prompt wants a message", errPayload)
		}
	case before, after, did:
		if e.call == "" {
			e.call = callKey(toolCall{Tool: n.Tool, Input: n.Input})
		}
	case command:
		switch { // without what it was to be limited by it would do more than it was asked for
		case wrong != nil:
			return nil, fmt.Errorf("%w: the field %q is a %s", errPayload, wrong.Field, wrong.Value)
		case n.Count < 0:
			return nil, fmt.Errorf("%w: a count of %d", errPayload, n.Count)
		}
		e.do = &request{
			verb: n.Event, count: max(n.Count, 1), dryRun: n.DryRun, outside: n.Outside,
			message: n.Message, part: n.Part, start: n.Start, newSession: n.NewSession,
		}
	}
	return e, nil
}
