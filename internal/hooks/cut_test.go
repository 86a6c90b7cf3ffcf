package hooks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/session"
)

// sub tells an event of the sub-agent of turn 1.
func (w *world) sub(name string, fields map[string]any) {
	w.Helper()
	fields["agent_id"], fields["agent_type"], fields["prompt_id"] = "a1", "general", "1"
	w.tell(name, "s", fields)
}

// TestEscEndsSubAgents: what the user writes after Esc has ended a sub-agent in the middle of a tool stays.
func TestEscEndsSubAgents(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"prompt", "stop"} {
		w := newWorld(t, Claude, aTree())
		w.prompt("s", "1", "make one")
		w.use("PreToolUse", "s", "Task", "t1", nil)
		w.sub("PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": "c1"})
		w.write("one", "x\n")
		if at == "stop" {
			w.tell("Stop", "s", map[string]any{"background_tasks": []any{}})
			w.write("a", "mine\n")
		}
		w.turnOf("s", "2", "make two", "echo x > two")
		w.write("b", "mine\n")
		if said := w.prompted("s", "cairn undo 2"); !strings.Contains(said, "took back 2 turns: 2 deleted\ndeleted two\ndeleted one\n") {
			t.Errorf("%s: %s", at, said)
		}
		w.noFailures()
	}
}

// TestSubAgentsBesideAPrompt: a sub-agent that goes on beside a prompt is taken back with all that its tool wrote.
func TestSubAgentsBesideAPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.prompt("s", "1", "make one")
	w.use("PreToolUse", "s", "Task", "t1", nil)
	w.sub("PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": "c1"})
	w.write("one", "half\n")
	w.prompt("s", "2", "and two")
	w.write("one", "whole\n")
	w.write("more", "x\n")
	w.sub("PostToolBatch", map[string]any{"tool_calls": []any{map[string]any{"tool_name": "Bash", "tool_use_id": "c1"}}})
	w.sub("SubagentStop", map[string]any{"background_tasks": []any{}})
	w.tell("Stop", "s", map[string]any{"background_tasks": []any{}})
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestStopOfANeutralSubAgent: the end of a sub-agent's turn ends its step, although its tool has not come back.
func TestStopOfANeutralSubAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, OpenCode, aTree())
	w.neutralEvent(map[string]any{"event": "prompt", "message": "1", "prompt": "go"})
	child := func(name string) {
		t.Helper()
		answer := w.send(fmt.Sprintf(`{"event": %q, "cwd": %q, "session": "k", "parent": "s", "message": "k1", "call": "c", "tool": "bash"}`, name, w.root))
		if !strings.Contains(answer, `"ok":true`) {
			t.Error(answer)
		}
	}
	child("session")
	child("before")
	w.write("one", "x\n")
	child("stop")
	w.sessions(func(all *session.Sessions) {
		if s, err := all.Get(t.Context(), "k"); err != nil || s.Open != "" || s.Steps != 1 {
			t.Errorf("%+v, %v", s, err)
		}
	})
	w.noFailures()
}
