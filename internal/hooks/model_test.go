package hooks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/session"
)

// models are those of a session and of its steps.
func (w *world) models(id string) (of string, steps []string) {
	w.Helper()
	w.sessions(func(all *session.Sessions) {
		s, err := all.Get(w.Context(), id)
		if err != nil {
			w.Fatal(err)
		}
		history, err := all.History(w.Context(), id)
		if err != nil {
			w.Fatal(err)
		}
		for i := range history {
			for _, st := range history[i].Steps {
				steps = append(steps, st.Model)
			}
		}
		of = s.Model
	})
	return of, steps
}

// TestV60_ModelInThePayload: Codex and Qwen Code name the model with each event. A step has the model
// of its own time, the session that of its newest step.
func TestV60_ModelInThePayload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	for _, model := range []string{"gpt-5.5", "gpt-5.5-mini"} {
		w.tell("UserPromptSubmit", "s", map[string]any{"prompt": "go", "turn_id": model, "model": model})
		call := map[string]any{"tool_name": "Bash", "tool_use_id": "c" + model, "tool_input": map[string]string{"command": "x"}, "model": model}
		w.tell("PreToolUse", "s", call)
		w.write(model, "x")
		w.tell("PostToolUse", "s", call)
		w.tell("Stop", "s", nil)
	}
	of, steps := w.models("s")
	if of != "gpt-5.5-mini" || len(steps) != 2 || steps[0] != "gpt-5.5" || steps[1] != of {
		t.Errorf("%s, %q", of, steps)
	}
	w.noFailures()
}

// TestV60_ModelInTheTranscript: Claude Code writes the model into its transcript with the answer that
// calls a tool. Answers that it makes up itself, and texts that quote such a line, name no model.
func TestV60_ModelInTheTranscript(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	path := filepath.Join(t.TempDir(), "transcript.jsonl")
	text := `{"type":"assistant","message":{"model":"claude-opus-9","content":[]}}` + "\n" +
		`{"type":"assistant","message":{"model":"claude-haiku-9","content":[]}}` + "\n" +
		`{"type":"user","message":{"content":"{\"message\":{\"model\":\"quoted\"}}"}}` + "\n" +
		`{"type":"assistant","message":{"model":"<synthetic>"}}` + "\n" + `{"model":` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	use := func(session, transcript, file string) {
		w.tell("UserPromptSubmit", session, map[string]any{"prompt": "go", "prompt_id": file, "transcript_path": transcript})
		w.tell("PreToolUse", session, map[string]any{"tool_name": "Bash", "tool_use_id": file, "tool_input": map[string]string{"command": "x"}, "transcript_path": transcript})
		w.write(file, "x")
		w.tell("PostToolBatch", session, map[string]any{"tool_calls": []any{map[string]any{"tool_name": "Bash", "tool_use_id": file}}})
		w.tell("Stop", session, nil)
	}
	use("s", path, "one")
	use("none", filepath.Join(t.TempDir(), "missing"), "two")
	if of, steps := w.models("s"); of != "claude-haiku-9" || len(steps) != 1 || steps[0] != of {
		t.Errorf("%s, %q", of, steps)
	}
	if of, steps := w.models("none"); of != "" || len(steps) != 1 || steps[0] != "" {
		t.Errorf("%s, %q", of, steps)
	}
	w.noFailures()
}

// TestV60_ModelOfAnAdapter: an adapter names the model with a prompt, and steps have it.
func TestV60_ModelOfAnAdapter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, known.Pi, aTree())
	for _, event := range []string{
		`{"event":"prompt","session":"s","cwd":"` + w.root + `","message":"m","prompt":"go","model":"kimi"}`,
		`{"event":"before","session":"s","cwd":"` + w.root + `","call":"c","tool":"bash"}`,
		`{"event":"after","session":"s","cwd":"` + w.root + `","call":"c","tool":"bash"}`,
	} {
		w.send(event)
		w.write("x", event)
	}
	if of, steps := w.models("s"); of != "kimi" || len(steps) != 1 || steps[0] != of {
		t.Errorf("%s, %q", of, steps)
	}
	w.sessions(func(all *session.Sessions) {
		s, err := all.Get(t.Context(), "s")
		if err != nil || s.Meta[session.MetaModel] != "kimi" {
			t.Errorf("%+v, %v", s, err)
		}
	})
}
