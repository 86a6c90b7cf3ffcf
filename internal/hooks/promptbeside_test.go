package hooks

import (
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/session"
)

// typist types prompts while a tool runs, and tells of it as an agent does.
type typist struct {
	*world
	transcript string // of Claude Code
}

func (w *typist) prompt(id, text string) {
	w.Helper()
	if w.agent == Claude {
		w.tell("UserPromptSubmit", "s", map[string]any{"prompt": text, "prompt_id": id, "transcript_path": w.transcript})
		return
	}
	w.neutralEvent(map[string]any{"event": "prompt", "message": id, "prompt": text})
}

func (w *typist) begin() {
	w.Helper()
	if w.agent == Claude {
		w.file(w.transcript, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c1","name":"Bash"}]}}`+"\n")
		w.use("PreToolUse", "s", "Bash", "c1", nil)
		return
	}
	w.neutralEvent(map[string]any{"event": "before", "message": "1", "call": "c1", "tool": "bash"})
}

func (w *typist) end() {
	w.Helper()
	if w.agent == Claude {
		w.comeBack("s", "c1")
		return
	}
	w.neutralEvent(map[string]any{"event": "after", "message": "2", "call": "c1", "tool": "bash"})
}

// interrupt is Esc.
func (w *typist) interrupt() {
	w.Helper()
	if w.agent == Claude {
		w.file(w.transcript, `{"type":"user","message":{"content":[{"type":"tool_result","content":"rejected","tool_use_id":"c1"}]}}`+"\n")
		return
	}
	w.neutralEvent(map[string]any{"event": "stop"})
}

// TestAPromptBesideATool: a prompt that is typed while a tool runs leaves the tool's step open, so an undo takes back all
// that the tool writes. After Esc it ends the step, and later writes are the user's.
func TestAPromptBesideATool(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{Claude, OpenCode, known.Kilo} {
		for _, interrupted := range []bool{false, true} {
			w := &typist{newWorld(t, agent, aTree()), filepath.Join(t.TempDir(), "transcript.jsonl")}
			want := w.manifest()
			w.prompt("1", "make one")
			w.begin()
			w.write("one", "half\n")
			if interrupted {
				w.interrupt()
			}
			w.prompt("2", "and two")
			w.write("one", "whole\n")
			w.write("more", "x\n")
			if interrupted {
				want = w.manifest()
			} else {
				w.end()
			}
			w.sessions(func(s *session.Sessions) {
				if _, _, err := s.Revert(t.Context(), "s", session.Target{Start: true}, session.MoveOptions{}); err != nil {
					t.Error(agent, interrupted, err)
				}
			})
			w.isAs(want, agent+" after undo")
			w.noFailures()
		}
	}
}
