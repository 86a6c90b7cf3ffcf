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
	{"copilot", copilotCalls},
	{"droid", droidCalls},
	{"cline", clineCalls},
	{"cursor", cursorCalls},
	{"goose", gooseCalls},
	{"crush", crushCalls},
	{"opencode", openCodeCalls},
	{"kilo", kiloCalls},
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

// copilotCalls: Copilot CLI gives calls no ids.
func copilotCalls(at place, m moment) []agentCall {
	events := claudeEvents
	events.after = "PostToolUse"
	return ownHook("copilot", events, at, m, fields{"timestamp": at.turn}, fields{
		"tool_name": "Write", "tool_input": fields{"path": at.file, "file_text": at.call},
	})
}

func droidCalls(at place, m moment) []agentCall {
	events := claudeEvents
	events.after = "PostToolUse"
	return ownHook("droid", events, at, m, fields{"permission_mode": "auto-high"}, fields{
		"tool_name": "Create", "tool_input": fields{"file_path": at.file, "content": at.call},
	})
}

// clineCalls: the terminal program tells neither the beginning of a session nor the prompt, but that a turn begins.
func clineCalls(at place, m moment) []agentCall {
	common := fields{
		"taskId": at.session, "sessionContext": fields{"rootSessionId": at.session}, "workspaceRoots": []string{at.root},
		"agent_id": "agent", "parent_agent_id": nil, "timestamp": at.turn,
	}
	call := fields{"id": at.call, "name": "editor", "input": fields{"path": at.file, "new_text": at.call}}
	switch m {
	case momentSession:
		return nil
	case momentPrompt:
		return hookCall("cline", common, fields{"hookName": "agent_start"})
	case momentFirst, momentBefore:
		return hookCall("cline", common, fields{"hookName": "tool_call", "tool_call": call})
	case momentAfter:
		return hookCall("cline", common, fields{"hookName": "tool_result", "tool_result": call})
	}
	return hookCall("cline", common, fields{"hookName": "agent_end"})
}

func cursorCalls(at place, m moment) []agentCall {
	common := fields{"conversation_id": at.session, "generation_id": at.turn, "workspace_roots": []string{at.root}, "model": "gpt-5.5"}
	tool := fields{"tool_name": "Write", "tool_use_id": at.call, "tool_input": fields{"file_path": at.file, "content": at.call}, "cwd": at.root}
	switch m {
	case momentSession:
		return hookCall("cursor", common, fields{"hook_event_name": "sessionStart", "session_id": at.session})
	case momentPrompt:
		return hookCall("cursor", common, fields{"hook_event_name": "beforeSubmitPrompt", "prompt": "write " + at.file})
	case momentFirst, momentBefore:
		tool["hook_event_name"] = "preToolUse"
		return hookCall("cursor", common, tool)
	case momentAfter:
		tool["hook_event_name"] = "postToolUse"
		return hookCall("cursor", common, tool)
	}
	return hookCall("cursor", common, fields{"hook_event_name": "stop"})
}

func gooseCalls(at place, m moment) []agentCall {
	common := fields{"session_id": at.session, "working_dir": at.root}
	tool := fields{"tool_name": "developer__write", "tool_call_id": at.call, "tool_input": fields{"path": at.file, "content": at.call}}
	switch m {
	case momentSession:
		return hookCall("goose", common, fields{"event": "SessionStart"})
	case momentPrompt:
		return hookCall("goose", common, fields{"event": "UserPromptSubmit", "message": "write " + at.file})
	case momentFirst, momentBefore:
		tool["event"] = "PreToolUse"
		return hookCall("goose", common, tool)
	case momentAfter:
		tool["event"] = "PostToolUse"
		return hookCall("goose", common, tool)
	}
	return hookCall("goose", fields{"session_id": at.session}, fields{"event": "Stop"})
}

// crushCalls: Crush tells only when a tool begins.
func crushCalls(at place, m moment) []agentCall {
	if m != momentFirst && m != momentBefore {
		return nil
	}
	return hookCall("crush", fields{"session_id": at.session, "cwd": at.root}, fields{
		"event": "PreToolUse", "tool_name": "write", "tool_input": fields{"file_path": at.file, "content": at.call},
	})
}

func kiloCalls(at place, m moment) []agentCall { return neutralCall("kilo", at, m) }

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
