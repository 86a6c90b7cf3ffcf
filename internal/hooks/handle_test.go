package hooks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// tell sends an event of Claude Code, Codex or Qwen with further fields.
func (w *world) tell(name, id string, fields map[string]any) string {
	w.Helper()
	all := map[string]any{"hook_event_name": name, "session_id": id, "cwd": w.root}
	for key, value := range fields {
		all[key] = value
	}
	payload, err := json.Marshal(all)
	if err != nil {
		w.Fatal(err)
	}
	return w.send(string(payload))
}

func (w *world) prompt(id, turn, text string) {
	w.Helper()
	w.report = ""
	out := w.tell("UserPromptSubmit", id, map[string]any{"prompt": text, "prompt_id": turn, "turn_id": turn})
	if out != "" && !w.moved[id] {
		w.Errorf("prompt printed %q", out)
	} else if out != "" {
		w.report = w.readReport(out, "UserPromptSubmit")
	}
	delete(w.moved, id)
}

func (w *world) use(when, id, tool, call string, input any) {
	w.Helper()
	if out := w.tell(when, id, map[string]any{"tool_name": tool, "tool_use_id": call, "tool_input": input}); out != "" {
		w.Errorf("%s printed %q", when, out)
	}
}

func aTree() gittest.Tree { return gittest.Tree{"a": gittest.File("a\n"), "b": gittest.File("b\n")} }

// TestR31_UsersEditsWhileTheAgentThinks: what changes between the tools is the user's.
// Undo takes back the agent's changes and keeps those.
func TestR31_UsersEditsWhileTheAgentThinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	w.prompt("s", "1", "go")
	w.write("mine-1", "mine\n")
	w.use("PreToolUse", "s", "Bash", "c1", map[string]string{"command": "echo x > theirs"})
	w.write("theirs", "x\n")
	w.use("PostToolUse", "s", "Bash", "c1", map[string]string{"command": "echo x > theirs"})
	w.write("a", "mine\n")
	w.use("PreToolUse", "s", "Bash", "c2", map[string]string{"command": "rm b"})
	w.shell("rm b")
	w.use("PostToolUse", "s", "Bash", "c2", map[string]string{"command": "rm b"})
	w.tell("Stop", "s", nil)
	w.write("mine-2", "mine\n")
	w.prompted("s", "cairn undo")
	want := gittest.Tree{"a": gittest.File("mine\n"), "b": gittest.File("b\n"), "mine-1": gittest.File("mine\n"), "mine-2": gittest.File("mine\n")}
	dir := t.TempDir()
	gittest.Create(t, dir, want)
	w.isAs(gittest.Manifest(t, dir), "after undo")
	w.noFailures()
}

// TestToolsAtTheSameTime: a step lasts until the last of them has come back, so that
// what the slower one writes is not lost.
func TestToolsAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	before := w.manifest()
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Bash", "c1", nil)
	w.use("PreToolUse", "s", "apply_patch", "c2", map[string]string{"command": "*** Begin Patch\n*** Add File: p\n+p\n*** End Patch"})
	w.write("p", "p\n")
	w.use("PostToolUse", "s", "apply_patch", "c2", nil)
	w.write("slow", "x\n")
	w.use("PostToolUse", "s", "Bash", "c1", nil)
	w.tell("Stop", "s", nil)
	w.history("s", []step{{"p slow", "p"}})
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestWhatAToolLeavesRunning: a command in the background goes on writing. Until the
// turn's end that is the agent's.
func TestWhatAToolLeavesRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.prompt("s", "1", "go")
	input := map[string]any{"command": "make &", "run_in_background": true}
	w.use("PreToolUse", "s", "Bash", "c1", input)
	w.write("early", "x\n")
	w.tell("PostToolBatch", "s", map[string]any{"tool_calls": []any{map[string]any{"tool_name": "Bash", "tool_use_id": "c1", "tool_input": input}}})
	w.write("late", "x\n")
	w.tell("Stop", "s", map[string]any{"background_tasks": []any{map[string]any{"id": "b1", "type": "shell", "status": "running"}}})
	w.write("mine", "mine\n")
	w.history("s", []step{{"early", ""}, {"late", ""}})
	if said := w.prompted("s", "cairn undo"); !strings.Contains(said, "\ntaken back: what changed after turn 1 while a background command ran") {
		t.Errorf("%q", said)
	}
	w.prompted("s", "cairn undo")
	w.isAs(before, "after two undos")
	w.noFailures()
}

// TestInterruptedTurn: when the user stops the agent in a tool, nothing is reported.
// The next prompt ends the step, in the turn that it belongs to.
func TestInterruptedTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Write", "c1", map[string]string{"file_path": w.path("new")})
	w.write("new", "x\n")
	w.prompt("s", "2", "again")
	w.use("PreToolUse", "s", "Write", "c2", map[string]string{"file_path": w.path("a")})
	w.write("a", "x\n")
	w.tell("Stop", "s", nil)
	w.history("s", []step{{"new", "new"}}, []step{{"a", "a"}})
	w.noFailures()
}

// TestR114_RepeatedEvents: the same event twice is one.
func TestR114_RepeatedEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Qwen, aTree())
	for range 2 {
		w.tell("SessionStart", "s", map[string]any{"source": "startup"})
	}
	for range 2 {
		w.prompt("s", "s########0", "go")
	}
	w.prompt("s", "s########0", "")
	for range 2 {
		w.use("PreToolUse", "s", "edit", "c1", map[string]string{"file_path": "a"})
	}
	w.write("a", "x\n")
	for range 2 {
		w.use("PostToolUse", "s", "edit", "c1", map[string]string{"file_path": "a"})
	}
	w.prompt("s", "s########0", "")
	for range 2 {
		w.tell("Stop", "s", nil)
	}
	w.history("s", []step{{"a", "a"}})
	w.noFailures()
}

// TestR113_IDsAreOpaque: whatever an id holds, it names no file.
func TestR113_IDsAreOpaque(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"../../x", "a/b\\c", ".", "..", "nul\x00", "ünï ", strings.Repeat("x", 5000), "########0", "-rf", "con"} {
		w := newWorld(t, Claude, aTree())
		before := w.manifest()
		w.prompt(id, id, "go")
		w.use("PreToolUse", id, "Bash", id, nil)
		w.write("new", "x\n")
		w.tell("Stop", id, nil)
		if got := w.prompted(id, "cairn undo"); !strings.Contains(got, "deleted new") {
			t.Errorf("%.20q: undo said %q", id, got)
		}
		w.isAs(before, fmt.Sprintf("%.20q: after undo", id))
		w.noFailures()
	}
}

// TestWithoutTurnState: what hooks remember between calls only makes steps finer. A
// session survives its loss.
func TestWithoutTurnState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	before := w.manifest()
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Bash", "c1", nil)
	w.write("one", "x\n")
	if err := os.RemoveAll(filepath.Join(w.data, "hooks")); err != nil {
		t.Fatal(err)
	}
	w.use("PostToolUse", "s", "Bash", "c1", nil)
	w.use("PreToolUse", "s", "Bash", "c2", nil)
	w.write("two", "x\n")
	w.use("PostToolUse", "s", "Bash", "c2", nil)
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestSetUpInTheMiddle: the first thing that is heard of a session is a tool.
func TestSetUpInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.use("PreToolUse", "s", "Bash", "c1", nil)
	w.write("one", "x\n")
	w.tell("PostToolBatch", "s", map[string]any{"prompt_id": "1"})
	w.use("PreToolUse", "s", "Bash", "c2", nil)
	w.write("two", "x\n")
	w.tell("SessionEnd", "s", nil)
	w.history("s", []step{{"one", ""}, {"two", ""}})
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestConcurrentHooks: ten agents work in one directory at once, each with its own
// files, and each undo takes back its own.
func TestConcurrentHooks(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	w := newWorld(t, Codex, aTree())
	before := w.manifest()
	var all sync.WaitGroup
	for n := range 10 {
		all.Go(func() {
			id := fmt.Sprintf("s%d", n)
			w := &world{T: w.T, agent: w.agent, root: w.root, data: w.data}
			w.prompt(id, "1", "go")
			for round := range 3 {
				name := fmt.Sprintf("f%d-%d", n, round)
				patch := map[string]string{"command": "*** Begin Patch\n*** Add File: " + name + "\n+x\n*** End Patch"}
				w.use("PreToolUse", id, "apply_patch", name, patch)
				w.write(name, "x\n")
				w.use("PostToolUse", id, "apply_patch", name, patch)
			}
			w.tell("Stop", id, nil)
		})
	}
	all.Wait()
	w.noFailures()
	for n := range 10 {
		if got := w.prompted(fmt.Sprintf("s%d", n), "cairn undo"); !strings.Contains(got, "3 deleted") {
			t.Errorf("session %d: %s", n, got)
		}
	}
	w.isAs(before, "after all undos")
}

// TestParallelHooksOfOneSession: an agent may run the hooks of several tools at once.
func TestParallelHooksOfOneSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	before := w.manifest()
	w.prompt("s", "1", "go")
	var all sync.WaitGroup
	for n := range 10 {
		all.Go(func() {
			w := &world{T: w.T, agent: w.agent, root: w.root, data: w.data}
			name := fmt.Sprintf("f%d", n)
			w.use("PreToolUse", "s", "Bash", name, nil)
			w.write(name, "x\n")
			w.use("PostToolUse", "s", "Bash", name, nil)
		})
	}
	all.Wait()
	w.tell("Stop", "s", nil)
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestFilesOfSeveralTurns: a file that several turns have changed is listed once, with what becomes of it at last.
func TestFilesOfSeveralTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	for i, turn := range []string{"1", "2"} {
		w.prompt("s", turn, "go")
		w.use("PreToolUse", "s", "Bash", "c"+turn, nil)
		w.write("a", turn)
		w.write("made", turn)
		if i == 1 {
			w.shell("rm b")
		}
		w.use("PostToolUse", "s", "Bash", "c"+turn, nil)
		w.tell("Stop", "s", nil)
	}
	for _, c := range []struct{ command, want string }{
		{"cairn undo 2", "took back 2 turns: 2 restored, 1 deleted\nrestored a\nrestored b\ndeleted made\n"},
		{"cairn redo 2", "brought back 2 turns: 2 restored, 1 deleted\nrestored a\nrestored made\ndeleted b\n"},
	} {
		if out := w.prompted("s", c.command); !strings.Contains(out, c.want) {
			t.Errorf("%s: %s", c.command, out)
		}
	}
	w.noFailures()
}
