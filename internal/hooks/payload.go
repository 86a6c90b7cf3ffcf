package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// payload is the JSON that the hooks of Claude Code send. Codex, Qwen Code, Gemini CLI, Copilot CLI
// and Droid send the same with variations. What others send is translated into it: see dialects.
// Fields that are not listed are skipped.
type payload struct {
	Event     string     `json:"hook_event_name"`
	Session   string     `json:"session_id"`
	Dir       string     `json:"cwd"`
	Source    string     `json:"source"`
	Prompt    string     `json:"prompt"`
	PromptID  string     `json:"prompt_id"` // Claude, Qwen
	TurnID    string     `json:"turn_id"`   // Codex; Claude has one of another meaning in MessageDisplay
	Timestamp string     `json:"timestamp"` // Gemini, Qwen
	AgentID   string     `json:"agent_id"`  // set for sub-agents
	AgentType string     `json:"agent_type"`
	ParentID  string     `json:"parent_agent_id"` // Copilot; of the session, for its sub-agents
	Model     string     `json:"model"`           // Codex, Qwen
	Calls     []toolCall `json:"tool_calls"`      // PostToolBatch
	toolCall

	Transcript string `json:"transcript_path"`

	Added string `json:"directory"` // Claude, DirectoryAdded

	Background []task `json:"background_tasks"`

	further []string // directories of the workspace, beside Dir

	turn bool // a turn begins, and no prompt is told
	deaf bool // the agent does not listen to what a hook says of a prompt
}

// task is a command or a sub-agent that goes on after a turn.
type task struct {
	ID     string `json:"id"`
	Type   string `json:"type"`       // Claude
	Agent  string `json:"agent_type"` // Qwen, whose list has sub-agents only
	Status string `json:"status"`
}

func (t *task) subAgent() bool { return t.Type == "subagent" || t.Type == "" && t.Agent != "" }

// toolCall is one call of a tool.
type toolCall struct {
	Tool     string          `json:"tool_name"`
	Input    json.RawMessage `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
	Result   json.RawMessage `json:"tool_result"` // Copilot
	Call     string          `json:"tool_use_id"`
}

// eventNames maps the event names of all agents. Other events, such as compactions,
// notifications and permissions, do not concern files.
var eventNames = map[string]kind{
	"SessionStart": sessionBegin,
	"SessionEnd":   sessionEnd,

	"UserPromptSubmit": prompt, "BeforeAgent": prompt,
	"PreToolUse": before, "BeforeTool": before,
	"PostToolUse": after, "PostToolUseFailure": after, "PostToolBatch": after, "AfterTool": after,
	"Stop": stop, "StopFailure": stop, "AfterAgent": stop, "Interrupt": stop,
	"SubagentStop": agentStop,

	"DirectoryAdded": newDir,
}

// reportsAgents lists the agents whose sub-agents have hooks of their own. The tool
// that starts such a sub-agent does not count as a tool that writes.
var reportsAgents = map[string]bool{Claude: true, Codex: true, known.Copilot: true, known.Cline: true}

// continuations begin the prompts that Claude Code and Copilot CLI make up themselves, when a
// sub-agent or a command has finished: the turn goes on.
var continuations = []string{"<task-notification>", "<system_notification>"}

func decodePayload(agent string, data []byte) (*event, error) {
	p, err := translate(agent, data)
	if err != nil {
		return nil, err
	}
	e := &event{
		kind: eventNames[p.Event], name: p.Event, session: p.Session, dir: p.Dir, at: p.Timestamp,
		message: p.PromptID, prompt: p.Prompt, call: p.Call, tool: p.Tool, title: p.AgentType, model: p.Model, further: p.further,
	}
	if e.message == "" {
		e.message = p.TurnID
	}
	if p.AgentID != "" {
		e.session, e.parent = childID(p.Session, p.AgentID), p.Session
	}
	switch e.kind {
	case sessionBegin:
		e.record = p.Transcript
		if p.Source == "compact" {
			e.kind = noise // in the middle of a turn
		}
	case newDir:
		e.further = append(e.further, p.Added)
	case prompt:
		e.dialogue, e.record = p.Transcript, p.Transcript
		if !p.turn {
			e.decidePrompt(p.deaf)
		}
		if agent == Claude {
			e.transcript = p.Transcript
		}
	case before, after:
		if agent == Claude && e.kind == after && p.Event != "PostToolBatch" {
			e.kind = noise // the batch tells of all its calls
			break
		}
		e.dialogue = p.Transcript
		e.readCalls(agent, p)
	case stop, agentStop:
		e.readBackground(agent, p)
		if e.kind == agentStop && e.parent == "" {
			e.kind = noise // it does not name the sub-agent
		}
	}
	return e, nil
}

// byteOrderMark may stand before a payload, also twice, where PowerShell hands it on.
const byteOrderMark = "\ufeff"

// unmarshal is lenient: a value of another type than expected is left out, because an
// agent's next version may well send it.
func unmarshal(data []byte, v any) error {
	_, err := unmarshalTyped(data, v)
	return err
}

// unmarshalTyped is unmarshal, and returns the first value of another type, nil for none.
func unmarshalTyped(data []byte, v any) (wrong *json.UnmarshalTypeError, err error) {
	err = json.Unmarshal(bytes.TrimLeft(data, byteOrderMark), v)
	if err != nil && !errors.As(err, &wrong) {
		return nil, fmt.Errorf("%w: no JSON object", errPayload) // the error would quote the payload
	}
	return wrong, nil
}

// childID names the session of a sub-agent. Agents number them by session, if at all.
func childID(session, agent string) string { return session + "/" + agent }

// decidePrompt tells prompts that begin a turn from commands and from noise. A command that
// cannot be kept from the model is for the model, which can carry it out in a shell.
func (e *event) decidePrompt(deaf bool) {
	text := strings.TrimSpace(e.prompt)
	switch {
	case e.parent != "", text == "":
		e.kind = noise // Qwen repeats an empty prompt before every turn of the model
	case slices.ContainsFunc(continuations, func(c string) bool { return strings.HasPrefix(text, c) }):
		e.kind = noise
		if e.back = shellBack(text); e.message != "" || e.back != "" {
			e.kind = comeBack
		}
	case deaf:
	default:
		if do := parseCommand(text); do != nil {
			e.kind, e.do, e.said = command, do, true
		}
	}
}

func (e *event) readCalls(agent string, p *payload) {
	calls := p.Calls
	if p.Event == "PostToolBatch" {
		e.all = true
	} else {
		calls = []toolCall{p.toolCall}
	}
	e.reads = len(calls) > 0
	for _, call := range calls {
		e.reads = e.reads && (readsOnly(call.Tool) || reportsAgents[agent] && launchesAgent(call.Tool))
		e.paths = append(e.paths, toolPaths(p.Dir, call.Tool, call.Input)...)
		if left := shellLeft(call); left != "" || leavesRunning(call) {
			e.background, e.left = true, left
		}
	}
	e.alone = agent == known.Crush
	e.shell = shellCommand(p.Tool, p.Input)
	if e.call == "" {
		e.call = callKey(p.toolCall)
	}
}

// readBackground reads which sub-agents and commands go on although the turn is over. A
// sub-agent is running until its own stop, which still lists it. Changes of a background
// command after the turn are a turn of their own; see recordLeft.
func (e *event) readBackground(agent string, p *payload) {
	e.tasks = agent == Claude && p.Background != nil
	for i := range p.Background {
		task := &p.Background[i]
		switch {
		case task.Status != "running":
		case !task.subAgent():
			e.background = true
		case task.ID != p.AgentID:
			e.running = append(e.running, childID(p.Session, task.ID))
		}
	}
}
