package main

import (
	"encoding/json"
	"path/filepath"
)

// moment is a point of a turn at which an agent waits for cairn.
type moment string

// The moments in the order of a session. firstTool is the first call of a tool of a session.
const (
	momentSession moment = "session"
	momentPrompt  moment = "prompt"
	momentFirst   moment = "first tool"
	momentBefore  moment = "before tool"
	momentAfter   moment = "after tool"
	momentStop    moment = "stop"
)

var moments = []moment{momentSession, momentPrompt, momentFirst, momentBefore, momentAfter, momentStop}

// place is where an agent is in its session.
type place struct {
	root, session, turn, call, file string
}

// agentCall is one start of the program by an agent.
type agentCall struct {
	args  []string
	stdin string
}

// agentKind is an agent as cairn meets it: the commands that its hooks or its plugin run at
// a moment, one after the other.
type agentKind struct {
	name  string
	calls func(at place, m moment) []agentCall
}

var agentKinds = []agentKind{
	{"claude-code", claudeCalls},
	{"codex", codexCalls},
	{"gemini", geminiCalls},
	{"qwen", qwenCalls},
	{"opencode", openCodeCalls},
	{"pi", piCalls},
}

type fields map[string]any

func hookCall(agent string, common, more fields) []agentCall {
	for key, value := range common {
		more[key] = value
	}
	text, err := json.Marshal(more)
	if err != nil {
		panic(err) // texts only
	}
	return []agentCall{{[]string{"hook", agent}, string(text)}}
}

// hookEvents names an agent's events.
type hookEvents struct{ prompt, before, after, stop string }

// ownHook is a call of the hooks of Claude Code, or of agents that took its payloads over.
func ownHook(agent string, events hookEvents, at place, m moment, common, tool fields) []agentCall {
	common["session_id"], common["cwd"], common["transcript_path"] = at.session, at.root, filepath.Join(at.root, "..", at.session+".jsonl")
	switch m {
	case momentSession:
		return hookCall(agent, common, fields{"hook_event_name": "SessionStart", "source": "startup"})
	case momentPrompt:
		return hookCall(agent, common, fields{"hook_event_name": events.prompt, "prompt": "write " + at.file})
	case momentFirst, momentBefore:
		tool["hook_event_name"] = events.before
		return hookCall(agent, common, tool)
	case momentAfter:
		tool["hook_event_name"], tool["tool_response"] = events.after, "done"
		if events.after == "PostToolBatch" {
			tool = fields{"hook_event_name": events.after, "tool_calls": []fields{tool}}
		}
		return hookCall(agent, common, tool)
	}
	return hookCall(agent, common, fields{"hook_event_name": events.stop})
}

var claudeEvents = hookEvents{"UserPromptSubmit", "PreToolUse", "PostToolBatch", "Stop"}

func claudeCalls(at place, m moment) []agentCall {
	return ownHook("claude-code", claudeEvents, at, m, fields{"prompt_id": at.turn, "permission_mode": "default"}, fields{
		"tool_name": "Write", "tool_use_id": at.call, "tool_input": fields{"file_path": at.file, "content": at.call},
	})
}

func codexCalls(at place, m moment) []agentCall {
	events := claudeEvents
	events.after = "PostToolUse"
	return ownHook("codex", events, at, m, fields{"turn_id": at.turn, "model": "gpt-5.5"}, fields{
		"tool_name": "apply_patch", "tool_use_id": at.call,
		"tool_input": fields{"command": "*** Begin Patch\n*** Update File: " + at.file + "\n+x\n*** End Patch"},
	})
}

func geminiCalls(at place, m moment) []agentCall {
	return ownHook("gemini", hookEvents{"BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"}, at, m, fields{"timestamp": at.turn}, fields{
		"tool_name": "write_file", "tool_input": fields{"file_path": at.file, "content": at.call},
	})
}

func qwenCalls(at place, m moment) []agentCall {
	events := claudeEvents
	events.after = "PostToolUse"
	return ownHook("qwen", events, at, m, fields{"prompt_id": at.turn, "timestamp": at.turn}, fields{
		"tool_name": "write_file", "tool_use_id": at.call, "tool_input": fields{"file_path": at.file, "content": at.call},
	})
}

// neutralCall is a call of the plugins, in cairn's own protocol.
func neutralCall(agent string, at place, m moment) []agentCall {
	tool := fields{"message": at.turn, "call": at.call, "tool": "write", "input": fields{"filePath": at.file, "content": at.call}}
	common := fields{"cwd": at.root, "session": at.session, "patience": 30_000}
	switch m {
	case momentSession:
		return hookCall(agent, common, fields{"event": "session"})
	case momentPrompt:
		return hookCall(agent, common, fields{"event": "prompt", "message": at.turn, "prompt": "write " + at.file})
	case momentFirst, momentBefore:
		tool["event"] = "before"
		return hookCall(agent, common, tool)
	case momentAfter:
		tool["event"] = "after"
		return hookCall(agent, common, tool)
	}
	return hookCall(agent, common, fields{"event": "stop"})
}

func openCodeCalls(at place, m moment) []agentCall { return neutralCall("opencode", at, m) }

// piCalls include the checkpoints that the extension notes in pi's own session: before a
// prompt and at both ends. After tools it notes the end of their step.
func piCalls(at place, m moment) []agentCall {
	note := agentCall{args: []string{"--json", "track"}}
	calls := neutralCall("pi", at, m)
	switch m {
	case momentPrompt:
		return append([]agentCall{note}, calls...)
	case momentSession, momentStop:
		return append(calls, note)
	}
	return calls
}
