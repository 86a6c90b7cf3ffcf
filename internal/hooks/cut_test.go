package hooks

import (
	"strings"
	"testing"
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
