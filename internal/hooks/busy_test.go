package hooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestV41_UndoBesideATool: typed while a tool runs it is refused with the next step, and
// changes nothing; when the tool has come back it is carried out.
func TestV41_UndoBesideATool(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{Claude, Codex, Qwen} {
		w := newWorld(t, agent, aTree())
		before := w.manifest()
		w.prompt("s", "1", "go")
		w.use("PreToolUse", "s", "Bash", "c1", nil)
		w.write("theirs", "half\n")
		during := w.manifest()
		if said := w.prompted("s", "cairn undo"); !strings.Contains(said, "nothing was done: Bash was at work when this was typed. Stop it (Esc) or let it end, then type it again") {
			t.Errorf("%s: %q", agent, said)
		}
		w.isAs(during, "after a refused undo")
		w.write("theirs", "whole\n")
		w.comeBack("s", "c1")
		w.tell("Stop", "s", nil)
		w.prompted("s", "cairn undo")
		w.isAs(before, "after undo")
		w.noFailures()
	}
}

// comeBack tells that a call has come back, as each agent does.
func (w *world) comeBack(id, call string) {
	w.Helper()
	if w.agent != Claude {
		w.use("PostToolUse", id, "Bash", call, nil)
		return
	}
	w.tell("PostToolBatch", id, map[string]any{"tool_calls": []map[string]any{{"tool_name": "Bash", "tool_use_id": call}}})
}

// TestV41_ASteeredCommandIsCarriedOutOnce: Qwen Code gives a command that is typed beside a
// tool twice: between the tools, with the id of the running turn, and after the turn that
// its refusal ends. Only the turn at work goes back.
func TestV41_ASteeredCommandIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Qwen, aTree())
	before := w.manifest()
	w.turnOf("s", "1", "make one", "echo x > one")
	one := w.manifest()
	w.prompt("s", "2", "make two")
	w.use("PreToolUse", "s", "Bash", "c2", nil)
	w.write("two", "x\n")
	w.comeBack("s", "c2")
	during := w.manifest()
	given := func(id string) string {
		return w.tell("UserPromptSubmit", "s", map[string]any{"prompt": "cairn undo", "prompt_id": id})
	}
	if said := given("2"); !strings.Contains(said, `"decision":"block"`) || !strings.Contains(said, "nothing was done yet") {
		t.Errorf("between the tools: %s", said)
	}
	w.isAs(during, "after the command between the tools")
	if said := given("3"); !strings.Contains(said, "took back 1 turn: 1 deleted") {
		t.Errorf("after the turn: %s", said)
	}
	w.isAs(one, "after the command that came twice")
	w.prompted("s", "cairn undo")
	w.isAs(before, "after the next one")
	w.noFailures()
}

// TestV41_UndoAfterEsc: where no hook tells that Esc has ended a tool, the command is
// carried out when it is typed again. A tool that comes back after all was at work, and
// what it wrote is a step that the next undo takes back.
func TestV41_UndoAfterEsc(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{Claude, Codex} {
		w := newWorld(t, agent, aTree())
		before := w.manifest()
		w.prompt("s", "1", "go")
		w.use("PreToolUse", "s", "Bash", "c1", nil)
		w.write("theirs", "half\n")
		w.prompted("s", "cairn undo")
		if said := w.prompted("s", "cairn undo"); !strings.Contains(said, "took back 1 turn") {
			t.Errorf("%s: %q", agent, said)
		}
		w.isAs(before, "after Esc and undo")
		w.write("late", "after the undo\n")
		w.comeBack("s", "c1")
		w.tell("Stop", "s", nil)
		if said := w.prompted("s", "cairn undo"); !strings.Contains(said, "deleted late") {
			t.Errorf("%s: %q", agent, said)
		}
		w.isAs(before, "after the undo of what came late")
		w.noFailures()
	}
}

// TestV41_InterruptedTool: Claude Code calls no hook when Esc ends a tool, but its
// transcript has the result. The undo is carried out at once then, and a turn that was
// begun without a result is still at work.
func TestV41_InterruptedTool(t *testing.T) {
	t.Parallel()
	const line = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"rejected","is_error":true,"tool_use_id":"c1"}]}}` + "\n"
	quoted, err := json.Marshal(map[string]string{"type": "tool_result", "text": line})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, transcript string
		done             bool
	}{
		{"the result", "{}\n" + line + "{}\n", true}, {"another call", strings.Replace(line, "c1", "c11", 1), false},
		{"a quotation", string(quoted) + "\n", false}, {"no transcript", "", false},
	} {
		w := newWorld(t, Claude, aTree())
		before := w.manifest()
		w.prompt("s", "1", "go")
		w.use("PreToolUse", "s", "Bash", "c1", nil)
		w.write("theirs", "half\n")
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, []byte(c.transcript), 0o600); err != nil {
			t.Fatal(err)
		}
		said := w.tell("UserPromptSubmit", "s", map[string]any{"prompt": "cairn undo", "transcript_path": path})
		if strings.Contains(said, "took back 1 turn") != c.done || strings.Contains(said, "Bash was at work") == c.done {
			t.Errorf("%s: %q", c.name, said)
		}
		if c.done {
			w.isAs(before, "after Esc and undo")
		}
		w.noFailures()
	}
}

// TestV42_BackgroundCommand: changes of a background command after its turn are a turn of
// their own, and undo says that the command may go on; without a running command it does
// not.
func TestV42_BackgroundCommand(t *testing.T) {
	t.Parallel()
	const said = "a background command of this session was still running when its turn ended"
	w := newWorld(t, Claude, aTree())
	turn := func(id string, running ...map[string]string) {
		w.prompt("s", id, "go")
		w.use("PreToolUse", "s", "Bash", id, map[string]any{"run_in_background": true})
		w.write("made-"+id, "x\n")
		w.comeBack("s", id)
		w.tell("Stop", "s", map[string]any{"background_tasks": append([]map[string]string{}, running...)})
	}
	turn("1", map[string]string{"id": "b1", "type": "shell", "status": "running"})
	w.write("log", "by the command\n")
	if out := w.prompted("s", "cairn undo"); !strings.Contains(out, said) || !strings.Contains(out, "deleted log") || strings.Contains(out, "made-1") {
		t.Errorf("%q", out)
	}
	turn("2", map[string]string{"id": "b1", "type": "shell", "status": "completed"}, map[string]string{"id": "b2", "type": "subagent", "status": "running"})
	if out := w.prompted("s", "cairn undo"); strings.Contains(out, said) {
		t.Errorf("%q", out)
	}
	w.noFailures()
}

// TestV42_CodexTerminal: Codex calls no hook when a command becomes a background terminal.
// The call has not come back when the turn is over, and undo says so. A call that Esc has
// ended is no background command.
func TestV42_CodexTerminal(t *testing.T) {
	t.Parallel()
	const said = "a background command of this session was still running when its turn ended"
	for end, want := range map[string]bool{"Stop": true, "Interrupt": false} {
		w := newWorld(t, Codex, aTree())
		w.prompt("s", "1", "go")
		w.use("PreToolUse", "s", "Bash", "c1", nil)
		w.write("theirs", "x\n")
		w.tell(end, "s", nil)
		if out := w.prompted("s", "cairn undo"); strings.Contains(out, said) != want || !strings.Contains(out, "deleted theirs") {
			t.Errorf("after %s: %q", end, out)
		}
		w.noFailures()
	}
}

// TestV42_IsBackground: Gemini CLI and Qwen Code have another name for it, and no list of
// commands at the end of a turn.
func TestV42_IsBackground(t *testing.T) {
	t.Parallel()
	for agent, names := range map[string][4]string{
		Gemini: {"BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"}, Qwen: {"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"},
	} {
		for _, background := range []bool{true, false} {
			w := newWorld(t, agent, aTree())
			call := map[string]any{"tool_name": "run_shell_command", "tool_use_id": "c1", "tool_input": map[string]any{"command": "x", "is_background": background}}
			w.tell(names[0], "s", map[string]any{"prompt": "go", "prompt_id": "1"})
			w.tell(names[1], "s", call)
			w.write("theirs", "x\n")
			w.tell(names[2], "s", call)
			w.tell(names[3], "s", map[string]any{"background_tasks": []any{}})
			if out := w.prompted("s", "cairn undo"); strings.Contains(out, "background command") != background || !strings.Contains(out, "deleted theirs") {
				t.Errorf("%s, background %v: %q", agent, background, out)
			}
			w.noFailures()
		}
	}
}

// TestV42_QwensListHasSubAgentsOnly: a sub-agent in it is no background command.
func TestV42_QwensListHasSubAgentsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Qwen, aTree())
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "run_shell_command", "c1", nil)
	w.write("theirs", "x\n")
	w.comeBack("s", "c1")
	w.tell("Stop", "s", map[string]any{"background_tasks": []map[string]string{{"id": "a1", "status": "running", "agent_type": "general-purpose"}}})
	if out := w.prompted("s", "cairn undo"); strings.Contains(out, "background command") || !strings.Contains(out, "a sub-agent is still at work") {
		t.Errorf("%q", out)
	}
	w.noFailures()
}
