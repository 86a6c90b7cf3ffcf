package hooks

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// promptID names a prompt. Agents give every prompt another name.
func (w *world) promptID(text string) string { return fmt.Sprintf("p-%d-%s", w.opened, text) }

// prompted types a command in a session, and returns what the user gets to see.
func (w *world) prompted(id, text string) string {
	w.Helper()
	event := "UserPromptSubmit"
	if w.agent == Gemini {
		event = "BeforeAgent"
	}
	payload, _ := json.Marshal(map[string]any{
		"session_id": id, "cwd": w.root, "hook_event_name": event, "prompt": text, "prompt_id": w.promptID(text), "turn_id": w.promptID(text),
	})
	out := w.send(string(payload))
	if w.moved == nil {
		w.moved = make(map[string]bool)
	}
	w.moved[id] = w.moved[id] || strings.Contains(text, "undo") || strings.Contains(text, "redo")
	var answer struct {
		Decision, Reason, StopReason string
		Continue                     *bool
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		w.Fatalf("%s answered %q: %v", text, out, err)
	}
	if w.agent == Claude {
		if answer.Continue == nil || *answer.Continue || answer.Decision != "" {
			w.Errorf("%s is not kept from the model, or comes back into the input box: %s", text, out)
		}
		return answer.StopReason
	}
	want := "block"
	if w.agent == Gemini {
		want = "deny"
	}
	if answer.Decision != want || answer.Continue != nil {
		w.Errorf("%s is not kept from the model: %s", text, out)
	}
	return answer.Reason
}

// goldenTurns are transcripts of one turn, with the files of each step and those that its tools named.
var goldenTurns = []struct {
	agent, file string
	want        []step
}{
	{Claude, "claude/basic.jsonl", []step{{"new.txt", "new.txt"}, {"del.txt edit.txt made-by-bash.txt", "edit.txt"}}},
	{Codex, "codex/gpt-5.5.jsonl", []step{{"new.txt", "new.txt"}, {"edit.txt", "edit.txt"}, {"del.txt made-by-bash.txt", ""}}},
	{Codex, "codex/unknown-model.jsonl", []step{{"new.txt", ""}, {"del.txt made-by-bash.txt", ""}}},
	{Gemini, "gemini/basic.jsonl", []step{{"new.txt", "new.txt"}, {"edit.txt", "edit.txt"}, {"del.txt made-by-bash.txt", ""}}},
	{Qwen, "qwen/basic.jsonl", []step{{"new.txt", "new.txt"}, {"edit.txt", "edit.txt"}, {"del.txt made-by-bash.txt", ""}}},
}

// TestGoldenTurns: one turn of each agent that writes, edits, and deletes and creates
// by shell. Undo brings back the very state before it, redo the one after.
func TestGoldenTurns(t *testing.T) {
	t.Parallel()
	for _, c := range goldenTurns {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			w := replay(t, c.agent, c.file)
			id := w.only()
			w.history(id, c.want)
			after := w.manifest()
			if got := w.prompted(id, " Cairn  UNDO \n"); !strings.HasPrefix(got, "cairn: took back 1 turn: ") ||
				!strings.Contains(got, "\ndeleted new.txt") || !strings.Contains(got, "\nrestored del.txt") {
				t.Errorf("undo said %q", got)
			}
			w.isAs(w.turns[0], "after undo")
			if got := w.prompted(id, "cairn undo"); got != "cairn: nothing to take back in this session" {
				t.Errorf("a second undo said %q", got)
			}
			if got := w.prompted(id, "/cairn-redo"); !strings.HasPrefix(got, "cairn: brought back 1 turn: ") {
				t.Errorf("redo said %q", got)
			}
			w.isAs(after, "after redo")
			w.noFailures()
		})
	}
}

// only returns the one session there is.
func (w *world) only() (id string) {
	w.Helper()
	w.sessions(func(s *session.Sessions) {
		list, err := s.List(w.Context())
		if err != nil || len(list) != 1 {
			w.Fatalf("%d sessions, %v", len(list), err)
		}
		id = list[0].ID
		if list[0].Open != "" || list[0].Meta["agent"] != w.agent {
			w.Errorf("%+v", list[0])
		}
	})
	return id
}

// TestResumeAndContinue: a session goes on under its id, days later too, and its turns
// are taken back one by one.
func TestResumeAndContinue(t *testing.T) {
	t.Parallel()
	w := replay(t, Claude, "claude/basic.jsonl")
	w.play(transcript(t, "claude/resume.jsonl"))
	w.play(transcript(t, "claude/continue.jsonl"))
	id := w.only()
	w.history(id, []step{{"new.txt", "new.txt"}, {"del.txt edit.txt made-by-bash.txt", "edit.txt"}}, []step{{"resumed.txt", ""}}, []step{{"cont.txt", ""}})
	end := w.manifest()
	if got := w.prompted(id, "cairn log"); strings.Count(got, "\n") != 3 || !strings.Contains(got, "  1  ") || !strings.Contains(got, "4 files") {
		t.Errorf("log said\n%s", got)
	}
	if got := w.prompted(id, "cairn diff 3"); !strings.Contains(got, "cairn: 4 files changed") || !strings.Contains(got, "edit.txt  +1 -1") {
		t.Errorf("diff said\n%s", got)
	}
	w.prompted(id, "cairn undo")
	w.isAs(w.turns[2], "after one undo")
	w.prompted(id, "cairn undo 2")
	w.isAs(w.turns[0], "after three undos")
	w.prompted(id, "cairn redo")
	w.isAs(w.turns[1], "after one redo")
	if got := w.prompted(id, "cairn redo 9"); !strings.Contains(got, "brought back 2 turns") {
		t.Errorf("redo said %q", got)
	}
	w.isAs(end, "after all redos")
	w.noFailures()
}

func TestForkIsASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ agent, file string }{{Claude, "claude/fork.jsonl"}, {Codex, "codex/fork.jsonl"}} {
		w := replay(t, c.agent, c.file)
		id := w.only()
		w.history(id, []step{{"forked.txt", ""}})
		w.prompted(id, "cairn undo")
		w.isAs(w.turns[0], "after undo in the fork of "+c.agent)
		w.noFailures()
	}
}

// TestTwoTurns is the transcript in which the agent's own rewind left what a shell
// command had made, and did not bring back what it had deleted. A question without
// tools, in a session after /clear, is nothing to take back.
func TestTwoTurns(t *testing.T) {
	t.Parallel()
	w := replay(t, Claude, "claude/rewind.jsonl")
	ids := w.ids()
	if len(ids) != 2 {
		t.Fatalf("sessions %q", ids)
	}
	first, second := ids[0], ids[1]
	if !strings.HasPrefix(first, "92173498") {
		first, second = second, first
	}
	w.history(first,
		[]step{{"w1.txt", "w1.txt"}, {"edit.txt", "edit.txt"}, {"bash1.txt del.txt", ""}},
		[]step{{"w2.txt", "w2.txt"}, {"edit.txt", "edit.txt"}})
	w.history(second, []step{})
	if got := w.prompted(second, "cairn undo"); got != "cairn: nothing to take back in this session" {
		t.Errorf("undo after /clear said %q", got)
	}
	w.prompted(first, "cairn undo")
	w.isAs(w.turns[1], "after one undo")
	w.prompted(first, "cairn undo")
	w.isAs(w.turns[0], "after two undos")
	w.noFailures()
}

func (w *world) ids() (ids []string) {
	w.Helper()
	w.sessions(func(s *session.Sessions) {
		list, err := s.List(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		for _, s := range list {
			ids = append(ids, s.ID)
		}
	})
	return ids
}

// TestR25_SubagentWritesAfterTheStop: the sub-agent is a session of its own, and its
// work belongs to the turn that began it, although the parent has stopped and the
// agent goes on under another prompt id.
func TestR25_SubagentWritesAfterTheStop(t *testing.T) {
	t.Parallel()
	w := replay(t, Claude, "claude/subagent.jsonl")
	const parent, child = "4759f9ac-fbc8-4ca7-9930-1b54e1e98447", "4759f9ac-fbc8-4ca7-9930-1b54e1e98447/aa36617367cf8b5b4"
	w.history(parent, []step{})
	w.history(child, []step{{"by-sub.txt", ""}})
	w.sessions(func(s *session.Sessions) {
		got, err := s.Get(t.Context(), child)
		if err != nil || got.Parent != parent || got.Title != "general-purpose" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	after := w.manifest()
	if got := w.prompted(parent, "cairn undo"); !strings.Contains(got, "deleted by-sub.txt") {
		t.Errorf("undo said %q", got)
	}
	w.isAs(w.turns[0], "after undo")
	w.prompted(parent, "cairn redo")
	w.isAs(after, "after redo")
	w.noFailures()
}

// TestR95_KilledInsideATool: neither the tool's end nor the turn's is ever reported.
func TestR95_KilledInsideATool(t *testing.T) {
	t.Parallel()
	w := replay(t, Claude, "claude/sigterm.jsonl")
	id := w.only()
	w.history(id, []step{{"part.txt", ""}})
	w.prompted(id, "cairn undo")
	w.isAs(w.turns[0], "after undo")
	w.noFailures()
}

// TestR95_KilledWithoutAWord: not even the end of the session is reported. The step
// ends with whatever comes next: a prompt, or the session when it is resumed.
func TestR95_KilledWithoutAWord(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"undo", "resume"} {
		records := transcript(t, "claude/sigterm.jsonl")
		w := newWorld(t, Claude, gittest.Tree{"a": gittest.File("a\n")})
		w.play(records[:len(records)-1])
		var p payload
		json.Unmarshal(records[0].Payload, &p)
		if next == "resume" {
			w.send(string(w.here([]byte(strings.Replace(string(records[0].Payload), `"startup"`, `"resume"`, 1)))))
			w.only()
			w.history(p.Session, []step{{"part.txt", ""}})
		} else {
			w.prompted(p.Session, "cairn undo") // refused: the tool may be at work
		}
		w.prompted(p.Session, "cairn undo")
		w.isAs(w.turns[0], "after undo")
		w.noFailures()
	}
}

func TestFailingTools(t *testing.T) {
	t.Parallel()
	w := replay(t, Claude, "claude/toolfail.jsonl")
	id := w.only()
	w.history(id, []step{{"", ""}})
	if got := w.prompted(id, "cairn undo"); got != "cairn: nothing to take back in this session" {
		t.Errorf("undo said %q", got)
	}
	w.noFailures()
}

func TestOtherTranscripts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent, file string
		want        []step
	}{
		{Claude, "claude/retry.jsonl", []step{{"b1.txt", ""}}},
		{Claude, "claude/v197.jsonl", []step{{"b2.txt", ""}}},
		{Codex, "codex/resume.jsonl", []step{{"resumed.txt", ""}}},
	} {
		w := replay(t, c.agent, c.file)
		id := w.only()
		w.history(id, c.want)
		w.prompted(id, "cairn undo")
		w.isAs(w.turns[0], fmt.Sprintf("%s: after undo", c.file))
		w.noFailures()
	}
}
