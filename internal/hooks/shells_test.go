package hooks

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// shellOf is a command of Copilot CLI, with the result that the model gets.
func (w *world) shellOf(command, result string, does func()) {
	w.Helper()
	input := map[string]string{"command": command}
	w.use("PreToolUse", "s", "Bash", "", input)
	does()
	w.tell("PostToolUse", "s", map[string]any{"tool_name": "Bash", "tool_input": input, "tool_result": map[string]string{"result_type": "success", "text_result_for_llm": result}})
}

func (w *world) shellEnds(id string) {
	w.Helper()
	w.tell("UserPromptSubmit", "s", map[string]any{"prompt": fmt.Sprintf("<system_notification>\nShell command \"because\" (shellId: %s) has completed successfully.\n</system_notification>", id)})
}

const (
	goesOn = "<command with shellId: 0 is still running after 30 seconds. The command is still running but hasn't produced output yet.>"
	moved  = "<command with shellId: 1 moved to background by the user.>"
)

// TestACommandThatTakesLong: Copilot CLI lets a command go on after half a minute. What it writes until its end is its
// own, also after the turn. What changes then is the user's.
func TestACommandThatTakesLong(t *testing.T) {
	t.Parallel()
	for _, within := range []bool{false, true} {
		w := newWorld(t, known.Copilot, aTree())
		before := w.manifest()
		w.prompt("s", "", "build")
		w.shellOf("build", goesOn, func() { w.write("one", "x\n") })
		w.shellOf("more", moved, func() { w.write("two", "x\n") })
		end := func() { w.shellEnds("1"); w.write("late", "x\n"); w.shellEnds("0") }
		if within {
			end()
		}
		w.write("mine", "mine\n")
		if within {
			w.shellOf("last", "<shellId: 2 completed with exit code 0>", func() { w.write("three", "x\n") })
		} else {
			os.Remove(w.path("mine"))
		}
		w.tell("Stop", "s", nil)
		if !within {
			end()
		}
		w.write("after", "mine\n")
		said := w.prompted("s", "cairn undo")
		if !within {
			if !strings.Contains(said, "deleted late\n") || strings.Contains(said, "after\n") || !strings.Contains(said, "while a background command ran") {
				t.Error(said)
			}
			said = w.prompted("s", "cairn undo")
		}
		if strings.Contains(said, "mine") || strings.Contains(said, "background command") {
			t.Errorf("within %t: %s", within, said)
		}
		for _, name := range []string{"mine", "after"} {
			os.Remove(w.path(name))
		}
		w.isAs(before, fmt.Sprintf("after undo, within %t", within))
		w.noFailures()
	}
}
