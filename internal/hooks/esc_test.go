package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestV41_UndoRightAfterEsc: the sign that Esc has ended a tool comes while undo waits
// for it. Claude Code writes its transcript, the others call a hook.
func TestV41_UndoRightAfterEsc(t *testing.T) {
	t.Parallel()
	const line = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"rejected","is_error":true,"tool_use_id":"c1"}]}}` + "\n"
	for agent, tells := range map[string]func(w *world, transcript string){
		Claude: func(w *world, transcript string) { w.file(transcript, line) },
		Codex:  func(w *world, _ string) { w.tell("Interrupt", "s", nil) },
		Qwen: func(w *world, _ string) {
			w.use("PostToolUse", "s", "Bash", "c1", nil)
			w.tell("Stop", "s", nil)
		},
	} {
		w := newWorld(t, agent, aTree())
		before := w.manifest()
		w.midTool()
		path := filepath.Join(t.TempDir(), "s.jsonl")
		w.file(path, "{}\n")
		w.paused = func(n int) {
			if n == 3 {
				tells(w, path)
			}
		}
		if said := w.undoBeside(path); !strings.Contains(said, "took back 1 turn") || w.pauseCount != 3 {
			t.Errorf("%s: after %d pauses: %q", agent, w.pauseCount, said)
		}
		w.isAs(before, "after Esc and undo")
		w.noFailures()
	}
}

// TestV41_ACallThatComesBackWasAtWork: the model goes on with its result, so undo is
// refused although no call is open any more. The end of the turn lets it through.
func TestV41_ACallThatComesBackWasAtWork(t *testing.T) {
	t.Parallel()
	for _, over := range []bool{false, true} {
		w := newWorld(t, Claude, aTree())
		before := w.manifest()
		w.midTool()
		w.paused = func(n int) {
			switch {
			case n == 2:
				w.comeBack("s", "c1")
			case n == 4 && over:
				w.tell("Stop", "s", nil)
			}
		}
		said := w.undoBeside("")
		if strings.Contains(said, "took back 1 turn") != over || strings.Contains(said, "nothing was done: Bash was at work") == over {
			t.Errorf("over %v: %q", over, said)
		}
		if w.prompted("s", "cairn undo"); !over {
			w.isAs(before, "after undo typed again")
		}
		w.noFailures()
	}
}

// TestV41_TheWaitIsBounded: a call at work is refused after a wait that leaves the command
// most of its time; typed again there is no wait.
func TestV41_TheWaitIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.midTool()
	during := w.manifest()
	if said := w.undoBeside(""); !strings.Contains(said, "Bash was at work") || w.pauseCount == 0 || w.pauseCount > int(signBound/signPause) {
		t.Errorf("after %d pauses: %q", w.pauseCount, said)
	}
	w.isAs(during, "after a refused undo")
	w.pauseCount = 0
	if said := w.undoBeside(""); !strings.Contains(said, "took back 1 turn") || w.pauseCount != 0 {
		t.Errorf("after %d pauses: %q", w.pauseCount, said)
	}
	w.noFailures()
}

// midTool is a turn in which a tool is at work.
func (w *world) midTool() {
	w.Helper()
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Bash", "c1", nil)
	w.write("theirs", "half\n")
}

func (w *world) undoBeside(transcript string) string {
	w.Helper()
	return w.tell("UserPromptSubmit", "s", map[string]any{"prompt": "cairn undo", "transcript_path": transcript})
}

func (w *world) file(path, text string) {
	w.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}
