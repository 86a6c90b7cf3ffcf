package hooks

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/session"
)

// oneTool is a turn of Claude Code with one tool. The hook of the prompt gets another id than the tool where they differ.
func (w *world) oneTool(told, id, text, call, file string) {
	w.Helper()
	w.prompt("s", told, text)
	w.toolOf(id, call, file)
	w.stops(id)
}

func (w *world) toolOf(id, call, file string) {
	w.Helper()
	w.toolBegins(id, call)
	w.write(file, "x\n")
	w.toolEnds(id, call)
}

func (w *world) toolBegins(id, call string) {
	w.Helper()
	w.tell("PreToolUse", "s", map[string]any{"prompt_id": id, "tool_name": "Bash", "tool_use_id": call})
}

func (w *world) toolEnds(id, call string) {
	w.Helper()
	w.tell("PostToolBatch", "s", map[string]any{"prompt_id": id, "tool_calls": []any{map[string]any{"tool_name": "Bash", "tool_use_id": call}}})
}

// answers types a command in the session and looks for texts in what the user gets to see.
func (w *world) answers(line string, want ...string) {
	w.Helper()
	said := w.prompted("s", line)
	for _, text := range want {
		if !strings.Contains(said, text) {
			w.Errorf("%s lacks %q: %s", line, text, said)
		}
	}
}

// TestAPromptWithTheIDOfTheTurnBefore: Claude Code hands in a prompt that is typed right after a turn with the id of that
// turn. The tools have their own. It is a turn of its own, also where cairn is in the settings twice.
func TestAPromptWithTheIDOfTheTurnBefore(t *testing.T) {
	t.Parallel()
	for _, twice := range []bool{false, true} {
		w := newWorld(t, Claude, aTree())
		before := w.manifest()
		w.oneTool("1", "1", "make one", "c1", "one")
		after := w.manifest()
		if twice {
			w.prompt("s", "1", "make two")
		}
		w.oneTool("1", "2", "make two", "c2", "two")
		w.oneTool("2", "3", "make three", "c3", "three")
		if said := w.prompted("s", "cairn undo 2"); !strings.Contains(said, "took back 2 turns: 2 deleted\ndeleted three\ndeleted two\n") ||
			!strings.Contains(said, `"make three"`) || !strings.Contains(said, `"make two"`) {
			t.Errorf("twice %t: %s", twice, said)
		}
		w.isAs(after, "after undo 2")
		w.prompted("s", "cairn undo")
		w.isAs(before, "after undo")
		w.noFailures()
	}
}

// TestAPromptAfterAnUndoWithTheIDOfTheTurnBefore: an undo between the two changes nothing of that.
func TestAPromptAfterAnUndoWithTheIDOfTheTurnBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.oneTool("1", "1", "make one", "c1", "one")
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.oneTool("1", "2", "make two", "c2", "two")
	w.oneTool("3", "3", "make three", "c3", "three")
	w.answers("cairn undo", "took back 1 turn: 1 deleted\ndeleted three\n")
	w.answers("cairn undo", "took back 1 turn: 1 deleted\ndeleted two\n")
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestAPromptThatTheTurnTakesIn: a prompt that is typed while a tool runs, and that the running turn takes in, leaves the
// tool's step open. One undo takes back all of the turn.
func TestAPromptThatTheTurnTakesIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.prompt("s", "1", "make one")
	w.toolBegins("1", "c1")
	w.write("one", "half\n")
	w.prompt("s", "1", "and two")
	w.write("one", "whole\n")
	w.write("more", "x\n")
	w.toolEnds("1", "c1")
	w.toolOf("1", "c2", "two")
	w.stops("1")
	w.answers("cairn undo", "took back 1 turn: 3 deleted", `"make one"`)
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestAPromptThatWaitsForTheTurn: a prompt that is typed while a tool runs and waits for the end of the turn is a turn of
// its own. Its tools tell, whether or not the end of the turn before was told.
func TestAPromptThatWaitsForTheTurn(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{false, true} {
		w := newWorld(t, Claude, aTree())
		before := w.manifest()
		w.prompt("s", "1", "make one")
		w.toolBegins("1", "c1")
		w.prompt("s", "1", "make two")
		w.write("one", "x\n")
		w.toolEnds("1", "c1")
		if stopped {
			w.stops("1")
		}
		after := w.manifest()
		w.toolOf("2", "c2", "two")
		w.toolOf("2", "c3", "three")
		w.stops("2")
		if said := w.prompted("s", "cairn undo"); !strings.Contains(said, "took back 1 turn: 2 deleted") || !strings.Contains(said, `"make two"`) {
			t.Errorf("stopped %t: %s", stopped, said)
		}
		w.isAs(after, "after undo")
		w.prompted("s", "cairn undo")
		w.isAs(before, "after undo")
		w.noFailures()
	}
}

// TestATurnGoesOnUnderAnotherID: where no further prompt was heard, tools with another id are of the same turn: a
// sub-agent has come back.
func TestATurnGoesOnUnderAnotherID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.prompt("s", "1", "make one")
	w.prompt("s", "1", "make one") // of settings that have cairn twice
	w.toolOf("1", "c1", "one")
	w.toolOf("2", "c2", "two")
	w.stops("2")
	w.answers("cairn undo", "took back 1 turn: 2 deleted")
	w.isAs(before, "after undo")
	w.noFailures()
}

// typist types prompts while a tool runs, and tells of it as an agent does.
type typist struct {
	*world
	transcript string // of Claude Code
}

// prompt types a text. Claude Code gives the id of the running turn.
func (w *typist) prompt(id, text string) {
	w.Helper()
	if w.agent == Claude {
		w.tell("UserPromptSubmit", "s", map[string]any{"prompt": text, "prompt_id": "1", "transcript_path": w.transcript})
		return
	}
	w.neutralEvent(map[string]any{"event": "prompt", "message": id, "prompt": text})
}

func (w *typist) begin() {
	w.Helper()
	if w.agent == Claude {
		w.toolBegins("1", "c1")
		return
	}
	w.neutralEvent(map[string]any{"event": "before", "message": "1", "call": "c1", "tool": "bash"})
}

func (w *typist) end() {
	w.Helper()
	if w.agent == Claude {
		w.toolEnds("1", "c1")
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
