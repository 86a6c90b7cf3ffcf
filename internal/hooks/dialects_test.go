package hooks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/session"
)

// basic.jsonl is what the program sent, documented.jsonl what its documents and its source
// say that it sends. "does" is what the tool does after that line.

// enact sends a transcript, and does in between what its tools do.
func (w *world) enact(path string) {
	w.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(path)))
	if err != nil {
		w.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct {
			Payload json.RawMessage
			Does    string
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			w.Fatal(err)
		}
		if out := w.send(string(w.here(r.Payload))); out != quietAnswer[w.agent] {
			w.Errorf("%.120s printed %q", r.Payload, out)
		}
		switch verb, name, _ := strings.Cut(r.Does, " "); verb {
		case "write":
			w.write(name, "hello\n")
		case "edit":
			w.edit(name, "old", "NEW")
		case "shell":
			w.shell("rm del.txt; echo made > made-by-bash.txt")
		}
	}
}

// TestDialects: one turn of each further agent that writes, edits, and deletes and creates by
// shell, in the steps of its tools. Undo brings back the very state before it.
func TestDialects(t *testing.T) {
	t.Parallel()
	write, edit, shell := step{"new.txt", "new.txt"}, step{"edit.txt", "edit.txt"}, step{"del.txt made-by-bash.txt", ""}
	both := step{"del.txt edit.txt made-by-bash.txt", "edit.txt"} // at once
	for _, c := range []struct {
		agent, file string
		want        [][]step
	}{
		{known.Copilot, "copilot/basic.jsonl", [][]step{{write, edit, shell}}},
		{known.Droid, "droid/basic.jsonl", [][]step{{write, edit, shell}}},
		{known.Cline, "cline/basic.jsonl", [][]step{{write, both}}},
		{known.Cursor, "cursor/documented.jsonl", [][]step{{write, edit, shell}}},
		{known.Goose, "goose/documented.jsonl", [][]step{{write, edit, shell}}},
		{known.Crush, "crush/documented.jsonl", [][]step{{write}, {edit}, {shell}}},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.agent, gittest.Tree{"del.txt": gittest.File("del\n"), "edit.txt": gittest.File("old\n"), "sub/deep": gittest.File("deep\n")})
			before := w.manifest()
			w.enact(c.file)
			var id string
			w.sessions(func(s *session.Sessions) {
				list, err := s.List(t.Context())
				if err != nil || len(list) != 1 || list[0].Meta["agent"] != c.agent {
					t.Fatalf("%+v, %v", list, err)
				}
				id = list[0].ID
				for range c.want {
					if _, _, err := s.UndoTurn(t.Context(), id, session.MoveOptions{EndOpen: true}); err != nil {
						t.Fatal(err)
					}
				}
			})
			w.isAs(before, "after undo")
			w.history(id, c.want...)
			w.noFailures()
		})
	}
}

// TestSubAgentsOfDialects: what a sub-agent writes is in the turn that called it, in a session of
// its own, and goes back with it. What a program says for itself begins no turn.
func TestSubAgentsOfDialects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ agent, top, sub string }{
		{known.Copilot, "28f40440-2b09-48a1-8404-f6db4a17adbf", "28f40440-2b09-48a1-8404-f6db4a17adbf/51153776-f9b1-4540-ab4f-31407b6cdd02"},
		{known.Cline, "1795618084291_e6553", "1795618084291_e6553/agent_1795618086139_7yrkef"},
	} {
		t.Run(c.agent, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.agent, gittest.Tree{"edit.txt": gittest.File("old\n")})
			before := w.manifest()
			w.enact(c.agent + "/subagent.jsonl")
			w.history(c.sub, []step{{"inner.txt", "inner.txt"}})
			w.sessions(func(s *session.Sessions) {
				list, err := s.List(t.Context())
				if err != nil || len(list) != 2 {
					t.Fatalf("%+v, %v", list, err)
				}
				history, err := s.History(t.Context(), c.top)
				if err != nil || len(history) != 1 {
					t.Fatalf("%d turns, %v", len(history), err)
				}
				if _, _, err := s.Revert(t.Context(), c.top, session.Target{Start: true}, session.MoveOptions{EndOpen: true}); err != nil {
					t.Fatal(err)
				}
			})
			w.isAs(before, "after going back")
			w.noFailures()
		})
	}
}

// TestTypedCommands: a command that is typed is carried out where the agent keeps it from the
// model when a hook says so, and is the model's elsewhere.
func TestTypedCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent, payload, want string
	}{
		{known.Copilot, `{"hook_event_name":"UserPromptSubmit","session_id":"s","timestamp":"2026-11-25T14:04:36.510Z","cwd":"ROOT","prompt":"cairn undo"}`, `"decision":"block","reason":"cairn: nothing to take back`},
		{known.Droid, `{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"ROOT","prompt":"cairn undo"}`, `"decision":"block","reason":"cairn: nothing to take back`},
		{known.Cursor, `{"hook_event_name":"beforeSubmitPrompt","conversation_id":"s","workspace_roots":["ROOT"],"prompt":"cairn undo"}`, `"continue":false,"user_message":"cairn: nothing to take back`},
		{known.Cline, `{"hookName":"UserPromptSubmit","taskId":"s","workspaceRoots":["ROOT"],"userPromptSubmit":{"prompt":"cairn undo"}}`, `"cancel":true,"errorMessage":"cairn: nothing to take back`},
		{known.Cline, `{"hookName":"prompt_submit","taskId":"s","workspaceRoots":["ROOT"],"userPromptSubmit":{"prompt":"cairn undo"}}`, "{}\n"},
		{known.Goose, `{"event":"UserPromptSubmit","session_id":"s","working_dir":"ROOT","message":"cairn undo"}`, ""},
		{Claude, `{"hook_event_name":"UserPromptSubmit","session_id":"s","timestamp":"2026-11-25T14:04:36.510Z","cwd":"ROOT","prompt":"cairn undo"}`, ""}, // Copilot CLI
	} {
		w := newWorld(t, c.agent, aTree())
		root, _ := json.Marshal(w.root)
		out := w.send(strings.ReplaceAll(c.payload, "ROOT", string(bytes.Trim(root, `"`))))
		if !strings.Contains(out, c.want) || (c.want == "") != (out == "") || c.want == "{}\n" && out != c.want {
			t.Errorf("%s: %.60s printed %q", c.agent, c.payload, out)
		}
		w.noFailures()
	}
}

// TestClineSubAgent: what a sub-agent of Cline does belongs to the turn that called it.
func TestClineSubAgent(t *testing.T) {
	t.Parallel()
	e, err := decode(known.Cline, []byte(`{"hookName":"tool_call","taskId":"conv_2","sessionContext":{"rootSessionId":"s"},"workspaceRoots":["/p"],
		"agent_id":"a2","parent_agent_id":"a1","tool_call":{"id":"c1","name":"run_commands","input":{"commands":["rm a","rm b"]}}}`))
	if err != nil || e.session != "s/a2" || e.parent != "s" || e.call != "c1" || e.shell != "rm a\nrm b" || e.kind != before {
		t.Errorf("%+v, %v", e, err)
	}
	e, err = decode(known.Cline, []byte(`{"hookName":"agent_end","taskId":"conv_2","sessionContext":{"rootSessionId":"s"},"workspaceRoots":["/p"],"agent_id":"a2","parent_agent_id":"a1"}`))
	if err != nil || e.kind != agentStop {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestClineInTheEditor: the extension tells calls without ids, and parameters as texts.
func TestClineInTheEditor(t *testing.T) {
	t.Parallel()
	e, err := decode(known.Cline, []byte(`{"clineVersion":"3.40","hookName":"PreToolUse","timestamp":"1764079476510","taskId":"1764","workspaceRoots":["/p"],"userId":"u",
		"model":{"provider":"x","slug":"m"},"preToolUse":{"toolName":"write_to_file","parameters":{"path":"a.txt","content":"x"}}}`))
	if err != nil || e.kind != before || e.session != "1764" || !unnamed(e.call) || e.reads || e.model != "m" {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestCursorOnWindows: there Cursor hands payloads on through PowerShell, which writes one or two byte order marks before
// them, and names directories as URIs do.
func TestCursorOnWindows(t *testing.T) {
	t.Parallel()
	const told = `{"hook_event_name":"stop","conversation_id":"s","workspace_roots":["/p","/q"]}`
	for _, mark := range []string{"\ufeff", "\ufeff\ufeff"} {
		if e, err := decode(known.Cursor, []byte(mark+told)); err != nil || e.kind != stop || e.dir != "/p" {
			t.Errorf("%q: %+v, %v", mark, e, err)
		}
	}
	for _, c := range []struct{ system, path, want string }{
		{"windows", "/c:/Users/me/p", "c:/Users/me/p"}, {"windows", "/D:/", "D:/"}, {"windows", `C:\p`, `C:\p`},
		{"windows", "//host/share/p", "//host/share/p"}, {"windows", "/", "/"}, {"linux", "/c:/p", "/c:/p"},
	} {
		if got := plainPath(c.system, c.path); got != c.want {
			t.Errorf("%s on %s is %s, want %s", c.path, c.system, got, c.want)
		}
	}
}

// TestCursorWithoutFolder: in a window without a folder nothing is known of a project, and no failure is noted.
func TestCursorWithoutFolder(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"beforeSubmitPrompt", "stop"} {
		e, err := decode(known.Cursor, []byte(`{"hook_event_name":"`+name+`","conversation_id":"s","workspace_roots":[],"prompt":"go"}`))
		if err != nil || e.kind != noise {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}
