package hooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// neutralEvent sends an event of the neutral protocol and returns the answer.
func (w *world) neutralEvent(fields map[string]any) neutralReply {
	w.Helper()
	fields["session"], fields["cwd"] = "s", w.root
	payload, err := json.Marshal(fields)
	if err != nil {
		w.Fatal(err)
	}
	var answer neutralReply
	if err := json.Unmarshal([]byte(w.send(string(payload))), &answer); err != nil {
		w.Fatal(err)
	}
	if !answer.OK {
		w.Errorf("%s: %s", payload, answer.Error)
	}
	return answer
}

// TestToolWithoutAWord: a tool that ran before an event could announce it is a step with its
// changes. What the user wrote before the prompt is not among them.
func TestToolWithoutAWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "acp", aTree())
	w.neutralEvent(map[string]any{"event": "session"})
	gittest.Create(t, w.root, gittest.Tree{"users": gittest.File("mine\n")})
	before := gittest.Manifest(t, w.root)
	w.neutralEvent(map[string]any{"event": "prompt", "message": "m1", "prompt": "go", "final": true})
	gittest.Create(t, w.root, gittest.Tree{"agents": gittest.File("x\n")})
	got := w.neutralEvent(map[string]any{"event": "did", "call": "c1", "tool": "execute", "input": map[string]string{"command": "echo x > agents"}})
	if got.Step == "" || got.Message != "m1" {
		t.Errorf("the step: %+v", got)
	}
	if got := w.neutralEvent(map[string]any{"event": "did", "call": "c2", "tool": "execute"}); got.Step != "" {
		t.Errorf("a tool without changes has the step %q", got.Step)
	}
	w.neutralEvent(map[string]any{"event": "stop"})
	after := gittest.Manifest(t, w.root)
	w.neutralEvent(map[string]any{"event": "typed", "prompt": "cairn undo"})
	if diff := gittest.Diff(before, gittest.Manifest(t, w.root)); diff != "" {
		t.Errorf("after the undo:\n%s", diff)
	}
	w.neutralEvent(map[string]any{"event": "typed", "prompt": "cairn redo"})
	if diff := gittest.Diff(after, gittest.Manifest(t, w.root)); diff != "" {
		t.Errorf("after the redo:\n%s", diff)
	}
	w.noFailures()
}

// TestFinalPrompt: what the user writes after an undo is not the next tool's, although no event
// announces the tool.
func TestFinalPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "acp", aTree())
	turn := func(message, file string) {
		w.neutralEvent(map[string]any{"event": "prompt", "message": message, "final": true})
		gittest.Create(t, w.root, gittest.Tree{file: gittest.File("x\n")})
		w.neutralEvent(map[string]any{"event": "did", "call": message, "tool": "edit"})
		w.neutralEvent(map[string]any{"event": "stop"})
	}
	turn("m1", "one")
	w.neutralEvent(map[string]any{"event": "typed", "prompt": "cairn undo"})
	gittest.Create(t, w.root, gittest.Tree{"users": gittest.File("mine\n")})
	turn("m2", "two")
	w.neutralEvent(map[string]any{"event": "typed", "prompt": "cairn undo 9"})
	if _, err := os.Stat(filepath.Join(w.root, "users")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(w.root, "two")); err == nil {
		t.Error("the tool's file is there")
	}
}

// TestPassive: a hook that another part of cairn stands in for answers, and records nothing.
func TestPassive(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{Gemini: "{}\n", Claude: "", "x": `{"ok":true,"session":"s"}` + "\n"} {
		var out strings.Builder
		payload := `{"hook_event_name":"UserPromptSubmit","event":"typed","session_id":"s","session":"s","cwd":"/x","prompt":"cairn undo"}`
		Handle(t.Context(), agent, strings.NewReader(payload), &out, Options{Dir: t.TempDir(), Passive: true})
		if out.String() != want {
			t.Errorf("%s answers %q, want %q", agent, out.String(), want)
		}
	}
}
