package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"runtime"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// Cline, Cursor, Goose and Crush send other JSON than Claude Code. It is translated, so that
// everything behind it knows one form.

// translate reads a payload of any agent that does not use the neutral protocol.
func translate(agent string, data []byte) (*payload, error) {
	switch agent {
	case known.Cline:
		return readCline(data)
	case known.Cursor:
		return readCursor(data)
	case known.Goose:
		return readGoose(data)
	case known.Crush:
		return readCrush(data)
	}
	p := new(payload)
	err := unmarshal(data, p)
	if agent == known.Copilot && p.ParentID != "" {
		p.Session = p.ParentID // its sub-agents have sessions of their own
	}
	// Copilot CLI also runs the hooks of a project's settings of Claude Code, which would carry
	// a typed command out twice. Claude Code itself tells no time, and names its prompts.
	if agent == Claude && p.Timestamp != "" && p.PromptID == "" {
		p.Event = ""
	}
	return p, err
}

// clineEvent maps an event of Cline's terminal program and, with capital letters, of its
// editor extension. The program does not wait for the hooks of a prompt, and of a turn it only
// tells that one begins.
func clineEvent(name string) string {
	switch name {
	case "agent_start", "agent_resume", "UserPromptSubmit":
		return "UserPromptSubmit"
	case "TaskStart", "TaskResume":
		return "SessionStart"
	case "tool_call", "PreToolUse":
		return "PreToolUse"
	case "tool_result", "PostToolUse":
		return "PostToolUse"
	case "agent_end", "agent_error", "agent_abort", "TaskComplete", "TaskCancel", "TaskError":
		return "Stop"
	case "session_shutdown":
		return "SessionEnd"
	}
	return ""
}

// clineCall is a call as the terminal program tells it, with its id.
type clineCall struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// clineTool is a call as both programs tell it: the parameters are texts.
type clineTool struct {
	Name       string          `json:"toolName"`
	Parameters json.RawMessage `json:"parameters"`
}

func readCline(data []byte) (*payload, error) {
	var c struct {
		Name    string `json:"hookName"`
		Task    string `json:"taskId"`
		Context struct {
			Root string `json:"rootSessionId"`
		} `json:"sessionContext"`
		Time   string    `json:"timestamp"`
		Roots  []string  `json:"workspaceRoots"`
		Agent  string    `json:"agent_id"`
		Parent string    `json:"parent_agent_id"`
		Call   clineCall `json:"tool_call"`
		Result clineCall `json:"tool_result"`
		Before clineTool `json:"preToolUse"`
		After  clineTool `json:"postToolUse"`
		Submit struct {
			Prompt string `json:"prompt"`
		} `json:"userPromptSubmit"`
		Model struct {
			Slug string `json:"slug"`
		} `json:"model"`
	}
	err := unmarshal(data, &c)
	p := &payload{Event: clineEvent(c.Name), Session: cmp.Or(c.Context.Root, c.Task), Timestamp: c.Time, Prompt: c.Submit.Prompt, Model: c.Model.Slug}
	p.turn = c.Name == "agent_start" || c.Name == "agent_resume"
	if len(c.Roots) > 0 {
		p.Dir, p.further = c.Roots[0], c.Roots[1:]
	}
	if c.Parent != "" {
		p.AgentID, p.turn = c.Agent, false
		if p.Event == "Stop" {
			p.Event = "SubagentStop"
		}
	}
	p.Call, p.Tool, p.Input = cmp.Or(c.Call.ID, c.Result.ID), cmp.Or(c.Call.Name, c.Result.Name), firstOf(c.Call.Input, c.Result.Input)
	if p.Tool == "" {
		p.Tool, p.Input = cmp.Or(c.Before.Name, c.After.Name), firstOf(c.Before.Parameters, c.After.Parameters)
	}
	return p, err
}

func firstOf(a, b json.RawMessage) json.RawMessage {
	if len(a) > 0 {
		return a
	}
	return b
}

// cursorEvent maps an event of Cursor, in the editor and in the terminal.
func cursorEvent(name string) string {
	switch name {
	case "beforeSubmitPrompt":
		return "UserPromptSubmit"
	case "sessionStart", "sessionEnd", "stop", "preToolUse", "postToolUse", "postToolUseFailure":
		return strings.ToUpper(name[:1]) + name[1:]
	}
	return ""
}

func readCursor(data []byte) (*payload, error) {
	p := new(payload)
	var c struct {
		Conversation string   `json:"conversation_id"`
		Generation   string   `json:"generation_id"`
		Roots        []string `json:"workspace_roots"`
	}
	err := unmarshal(data, p)
	if err == nil {
		err = unmarshal(data, &c)
	}
	p.Event, p.Session, p.PromptID = cursorEvent(p.Event), cmp.Or(c.Conversation, p.Session), c.Generation
	for i, root := range c.Roots {
		c.Roots[i] = plainPath(runtime.GOOS, root)
	}
	// A tool tells the directory of a shell, which may lie below the workspace or outside.
	if len(c.Roots) > 0 {
		p.Dir, p.further = c.Roots[0], c.Roots[1:]
	}
	return passOver(p), err
}

// passOver makes noise of an event that names no directory: nothing is known of its project.
func passOver(p *payload) *payload {
	if p.Dir == "" {
		p.Event = ""
	}
	return p
}

// plainPath is a directory as the system names it. On Windows Cursor names it as in a URI: /c:/dir.
func plainPath(system, path string) string {
	if system == "windows" && len(path) > 2 && path[0] == '/' && path[2] == ':' {
		return path[1:]
	}
	return path
}

func readGoose(data []byte) (*payload, error) {
	p := new(payload)
	var g struct {
		Event   string `json:"event"`
		Message string `json:"message"`
		Dir     string `json:"working_dir"`
		Call    string `json:"tool_call_id"`
	}
	err := unmarshal(data, p)
	if err == nil {
		err = unmarshal(data, &g)
	}
	p.Event, p.Prompt, p.Dir, p.Call, p.deaf = g.Event, g.Message, g.Dir, g.Call, true
	if server, name, found := strings.Cut(p.Tool, "__"); found && server == "developer" {
		p.Tool = name
	}
	return passOver(p), err
}

// readCrush: Crush tells only when a tool begins. Each call is a turn of its own.
func readCrush(data []byte) (*payload, error) {
	p := new(payload)
	var c struct {
		Event string `json:"event"`
	}
	err := unmarshal(data, p)
	if err == nil {
		err = unmarshal(data, &c)
	}
	p.Event = c.Event
	return p, err
}

// beginAlone ends the step of the tool before, and begins a turn for this one.
func (h *hook) beginAlone(ctx context.Context) error {
	h.event.at = ""
	return h.beginTurn(ctx)
}

// quietAnswer is the answer of a hook with nothing to say, where the agent wants one.
var quietAnswer = map[string]string{Gemini: "{}\n", known.Cline: "{}\n", known.Cursor: "{}\n"}

// mute lists the agents that show no message of a hook, neither to the user nor to the model.
var mute = map[string]bool{known.Cline: true, known.Cursor: true, known.Goose: true, known.Crush: true}

// cursorAnswer and clineAnswer keep a prompt from the model.
type cursorAnswer struct {
	Continue bool   `json:"continue"`
	Message  string `json:"user_message"`
}

type clineAnswer struct {
	Cancel  bool   `json:"cancel"`
	Message string `json:"errorMessage"`
}
