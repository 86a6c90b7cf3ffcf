package hooks

import "testing"

func (w *world) stops(id string) {
	w.Helper()
	w.tell("Stop", "s", map[string]any{"prompt_id": id, "background_tasks": []any{}})
}

// delegates has a sub-agent write a file in a turn.
func (w *world) delegates(id, agent, file string) {
	w.Helper()
	sub := func(name string, fields map[string]any) {
		fields["prompt_id"], fields["agent_id"], fields["agent_type"] = id, agent, "general"
		w.tell(name, "s", fields)
	}
	w.tell("PreToolUse", "s", map[string]any{"prompt_id": id, "tool_name": "Agent", "tool_use_id": "of-" + agent})
	sub("PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": "c-" + agent})
	w.write(file, "x\n")
	sub("PostToolBatch", map[string]any{"tool_calls": []any{map[string]any{"tool_name": "Bash", "tool_use_id": "c-" + agent}}})
	sub("SubagentStop", map[string]any{"background_tasks": []any{}})
	w.tell("PostToolBatch", "s", map[string]any{"prompt_id": id, "tool_calls": []any{map[string]any{"tool_name": "Agent", "tool_use_id": "of-" + agent}}})
}

// TestASubAgentAfterAnUndo: the first tool after an undo is one of a sub-agent.
func TestASubAgentAfterAnUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.oneTool("1", "1", "make one", "c1", "one")
	w.prompted("s", "cairn undo")
	w.prompt("s", "2", "make two")
	w.delegates("2", "a1", "two")
	w.stops("2")
	w.oneTool("3", "3", "make three", "c3", "three")
	w.prompted("s", "cairn undo")
	w.answers("cairn undo", "took back 1 turn: 1 deleted\ndeleted two\n", `"make two"`)
	w.isAs(before, "after undo")
	w.noFailures()
}
