package hooks

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/session"
)

// readReport reads the answer to a prompt that goes on to the model with a report.
func (w *world) readReport(out, event string) string {
	w.Helper()
	var answer map[string]map[string]string
	if err := json.Unmarshal([]byte(out), &answer); err != nil || len(answer) != 1 || answer["hookSpecificOutput"]["hookEventName"] != event {
		w.Fatalf("the answer to a prompt: %q, %v", out, err)
	}
	return answer["hookSpecificOutput"]["additionalContext"]
}

// undoElsewhere takes turns of a session back in another process than the hook's.
func (w *world) undoElsewhere(id string, turns int) {
	w.Helper()
	w.sessions(func(s *session.Sessions) {
		for range turns {
			if _, _, err := s.UndoTurn(w.Context(), id, session.MoveOptions{}); err != nil {
				w.Error(err)
			}
		}
	})
}

// submit sends a prompt in the words of the agent, and returns all that the hook prints.
func (w *world) submit(id, text string) string {
	w.Helper()
	event := "UserPromptSubmit"
	if w.agent == Gemini {
		event = "BeforeAgent"
	}
	return w.tell(event, id, map[string]any{"prompt": text, "prompt_id": "p-" + text, "turn_id": "p-" + text, "timestamp": text})
}

// TestGoldenReport: after an undo in a shell the next prompt of each agent goes to the model with a
// report, in the form that the agent reads. It comes once, and not in another session.
func TestGoldenReport(t *testing.T) {
	t.Parallel()
	for agent, c := range map[string]struct{ file, event string }{
		Claude: {"claude/basic.jsonl", "UserPromptSubmit"}, Codex: {"codex/gpt-5.5.jsonl", "UserPromptSubmit"},
		Gemini: {"gemini/basic.jsonl", "BeforeAgent"}, Qwen: {"qwen/basic.jsonl", "UserPromptSubmit"},
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			w := replay(t, agent, c.file)
			id := w.only()
			silent := ""
			if agent == Gemini {
				silent = "{}\n"
			}
			if out := w.submit(id, "before an undo"); out != silent {
				t.Errorf("a prompt before an undo: %q", out)
			}
			w.undoElsewhere(id, 2)
			if out := w.submit("another", "go on"); out != silent {
				t.Errorf("a prompt of another session: %q", out)
			}
			report := w.readReport(w.submit(id, "go on"), c.event)
			for _, want := range []string{"It is no request.", "1 turn of this session taken back", "\ntaken back: the turn \"", "\ndeleted new.txt\n", "\nrestored del.txt\n"} {
				if !strings.Contains(report, want) {
					t.Errorf("no %q in the report:\n%s", want, report)
				}
			}
			if out := w.submit(id, "go on again"); out != silent {
				t.Errorf("the report came twice: %q", out)
			}
			w.noFailures()
		})
	}
}

// TestReportOfTypedCommands: an undo that was typed in the agent is reported, too, less the part of it that
// a redo has brought back.
func TestReportOfTypedCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.turnOf("s", "1", "make new", "echo x > new")
	w.turnOf("s", "2", `say "done" and rm b`, "rm b")
	w.prompted("s", "cairn undo 2")
	w.prompted("s", "cairn redo")
	w.prompt("s", "3", "go on")
	if !strings.Contains(w.report, "\ntaken back: the turn \"say 'done' and rm b\"\nrestored b\n") || strings.Contains(w.report, "make new") {
		t.Error(w.report)
	}
	w.prompted("s", "cairn redo")
	w.prompt("s", "4", "go on")
	if !strings.Contains(w.report, "\nbrought back: the turn \"say 'done' and rm b\"\ndeleted b\n") {
		t.Error(w.report)
	}
	w.prompted("s", "cairn undo")
	w.prompted("s", "cairn redo")
	if w.prompt("s", "5", "go on"); w.report != "" {
		t.Error(w.report)
	}
	w.noFailures()
}

// TestReportIsBounded: the newest turn changed many files with long names.
func TestReportIsBounded(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	w := newWorld(t, Codex, aTree())
	for turn := range 15 {
		w.prompt("s", fmt.Sprint(turn), strings.Repeat("long ", 40))
		w.use("PreToolUse", "s", "Bash", fmt.Sprint(turn), nil)
		w.write(strings.Repeat("n", 200)+fmt.Sprint(turn), "x\n")
		w.write(strings.Repeat("m", 200)+fmt.Sprint(turn), "x\n")
		w.use("PostToolUse", "s", "Bash", fmt.Sprint(turn), nil)
		w.tell("Stop", "s", nil)
	}
	w.prompted("s", "cairn undo 15")
	w.prompt("s", "next", "go on")
	if len(w.report) > maxReport || !strings.Contains(w.report, "taken back: 5 more turns") || !strings.Contains(w.report, "\nand more\nWhere the conversation") {
		t.Errorf("%d bytes:\n%s", len(w.report), w.report)
	}
}

// TestReportToAnAdapter: an adapter gets the report with the answer to a prompt. It gets none of a move
// that its agent's own conversation has made.
func TestReportToAnAdapter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, OpenCode, gittest.Tree{"a": gittest.File("a\n")})
	send := func(fields map[string]string) (answer struct{ Report string }) {
		fields["session"], fields["cwd"] = "s", w.root
		payload, _ := json.Marshal(fields)
		if err := json.Unmarshal([]byte(w.send(string(payload))), &answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	for _, n := range []string{"1", "2"} {
		send(map[string]string{"event": "prompt", "message": n, "prompt": "make " + n})
		send(map[string]string{"event": "before", "message": n, "call": n, "tool": "bash"})
		w.write("made-"+n, "x\n")
		send(map[string]string{"event": "after", "message": n, "call": n, "tool": "bash"})
		send(map[string]string{"event": "stop"})
	}
	send(map[string]string{"event": "revert", "message": "2"})
	if got := send(map[string]string{"event": "prompt", "message": "3", "prompt": "go on"}).Report; got != "" {
		t.Error(got)
	}
	w.undoElsewhere("s", 1)
	if got := send(map[string]string{"event": "prompt", "message": "4", "prompt": "go on"}).Report; !strings.Contains(got, "taken back: the turn \"make 1\"\ndeleted made-1\n") {
		t.Error(got)
	}
	w.noFailures()
}

// TestReportBeforeAPrompt: an adapter that does not wait for the capture at a prompt asks for the report
// before. It comes once.
func TestReportBeforeAPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "adapter", aTree())
	w.neutralEvent(map[string]any{"event": "prompt", "message": "1", "prompt": "make new", "final": true})
	w.write("new", "x\n")
	w.neutralEvent(map[string]any{"event": "did", "call": "c", "tool": "execute"})
	w.neutralEvent(map[string]any{"event": "stop"})
	if got := w.neutralEvent(map[string]any{"event": "news"}).Report; got != "" {
		t.Error(got)
	}
	w.undoElsewhere("s", 1)
	if got := w.neutralEvent(map[string]any{"event": "news"}).Report; !strings.Contains(got, "taken back: the turn \"make new\"\ndeleted new\n") {
		t.Error(got)
	}
	if got := w.neutralEvent(map[string]any{"event": "prompt", "message": "2", "final": true}).Report; got != "" {
		t.Errorf("the report came twice: %s", got)
	}
	w.noFailures()
}

// TestNewsOfMuteAgents: what an agent cannot be told does not count as told.
func TestNewsOfMuteAgents(t *testing.T) {
	t.Parallel()
	for agent, payload := range map[string]string{
		known.Cursor: `{"hook_event_name":"beforeSubmitPrompt","conversation_id":"ID","workspace_roots":["/home/dev/project"],"prompt":"go on"}`,
		known.Goose:  `{"event":"UserPromptSubmit","session_id":"ID","working_dir":"/home/dev/project","message":"go on"}`,
	} {
		w := newWorld(t, agent, gittest.Tree{"del.txt": gittest.File("del\n"), "edit.txt": gittest.File("old\n")})
		w.enact(agent + "/documented.jsonl")
		id := w.only()
		w.undoElsewhere(id, 1)
		if out := w.send(string(w.here([]byte(strings.Replace(payload, "ID", id, 1))))); out != quietAnswer[agent] {
			t.Errorf("%s: %q", agent, out)
		}
		w.sessions(func(s *session.Sessions) {
			if n, err := s.TakeNews(t.Context(), id); err != nil || n == nil || len(n.TakenBack) != 1 {
				t.Errorf("%s: %+v, %v", agent, n, err)
			}
		})
		w.noFailures()
	}
}

// TestReportToCopilot: Copilot CLI reads the report beside the place in which the others look for it.
func TestReportToCopilot(t *testing.T) {
	t.Parallel()
	for agent, beside := range map[string]bool{known.Copilot: true, Claude: false, known.Droid: false} {
		h := &hook{agent: agent, event: &event{kind: prompt, name: "UserPromptSubmit"}, did: answer{report: "what went back"}}
		var got struct {
			AdditionalContext  string
			HookSpecificOutput struct{ HookEventName, AdditionalContext string }
		}
		out := h.reply(nil)
		if err := json.Unmarshal(out, &got); err != nil || got.HookSpecificOutput.AdditionalContext != "what went back" {
			t.Errorf("%s: %s, %v", agent, out, err)
		}
		if (got.AdditionalContext != "") != beside || beside && got.AdditionalContext != "what went back" {
			t.Errorf("%s: %s", agent, out)
		}
	}
}
