package mcptools

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestSessions takes back a turn of an agent and keeps what came after it.
func TestSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	sessions := session.New(w.repo)
	if _, err := sessions.Begin(t.Context(), session.SessionBegin{ID: "s/1", Title: "an agent"}); err != nil {
		t.Fatal(err)
	}
	w.fails("hint: the tool sessions lists", "session_undo", map[string]any{"sessionID": "s/1"})
	before := w.manifest()
	if _, err := sessions.BeginStep(t.Context(), session.StepBegin{Session: "s/1", Message: "m", Role: session.RoleUser}); err != nil {
		t.Fatal(err)
	}
	w.change()
	w.fails("hint: wait until", "session_undo", map[string]any{"sessionID": "s/1"})
	if _, err := sessions.EndStep(t.Context(), session.StepEnd{Session: "s/1"}); err != nil {
		t.Fatal(err)
	}
	after := w.manifest()

	var list sessionList
	text := w.call("sessions", nil, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].Steps != 1 || !strings.Contains(text, "an agent") {
		t.Errorf("%+v\n%s", list, text)
	}
	var plan, done outcome
	w.call("session_undo", map[string]any{"sessionID": "s/1", "dryRun": true}, &plan)
	gittest.AssertEqual(t, "dry run", after, w.manifest())
	w.call("session_undo", map[string]any{"sessionID": "s/1", "planID": plan.Plan}, &done)
	gittest.AssertEqual(t, "undo", before, w.manifest())
	w.call("session_redo", map[string]any{"sessionID": "s/1"}, &done)
	gittest.AssertEqual(t, "redo", after, w.manifest())
	w.fails("not found", "session_undo", map[string]any{"sessionID": "other"})
	w.fails("wrong arguments", "session_undo", map[string]any{"sessionID": "s/1", "onConflict": "win"})
}

// TestV60_WhoAndWhat: lists say who worked, for which prompt, with which tool and command,
// and on which files.
func TestV60_WhoAndWhat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.agentStep("uuid-1", "new")
	want := session.Work{
		Session: "uuid-1", Message: "m", Step: "st", Agent: "codex", Prompt: "make  [31mit …",
		Calls: []session.Call{{Tool: "Bash", Command: "touch new"}}, Paths: cairn.Paths{"new"}, Changed: 1,
	}
	const did, lines = "  codex: make  [31mit …\n    Bash: touch new  (new)\n", "\n    codex, make  [31mit …\n    Bash: touch new  (new)\n"
	var checkpoints checkpointList
	if text := w.call("checkpoints", nil, &checkpoints); !reflect.DeepEqual(checkpoints.Checkpoints[0].Work, &want) || !strings.Contains(text, did) ||
		strings.Contains(text, "step st") || strings.Contains(text, "uuid-1") || !strings.Contains(text, `begin session "make  [31mit …"`) {
		t.Errorf("%+v\n%s", checkpoints.Checkpoints[0].Work, text)
	}
	resources, err := w.client.ListResources(t.Context(), nil)
	if err != nil || resources.Resources[0].Title != "make  [31mit …" || resources.Resources[1].Title != `begin session "make  [31mit …"` {
		t.Errorf("%+v, %v", resources, err)
	}
	var list sessionList
	if text := w.call("sessions", nil, &list); !reflect.DeepEqual(list.Sessions[0].Latest, &want) || !strings.Contains(text+"\n", lines) || list.Sessions[0].Agent != "codex" {
		t.Errorf("%+v\n%s", list, text)
	}
}

// TestV61_BeginningOfAnID: a session is named by the beginning of its id, or by @.
func TestV61_BeginningOfAnID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.agentStep("0c5f-first", "one")
	w.agentStep("0c6a-second", "two")
	for _, name := range []string{"0c6a", "@", "0c6a-second", "0c5f"} {
		file := "two"
		if name == "0c5f" {
			file = "one"
		}
		var done outcome
		w.call("session_undo", map[string]any{"sessionID": name}, &done)
		if !slices.Equal(done.Deleted, []string{file}) {
			t.Errorf("undo of %s deleted %q", name, done.Deleted)
		}
		w.call("session_redo", map[string]any{"sessionID": name}, &done)
		if !slices.Equal(done.Restored, []string{file}) {
			t.Errorf("redo of %s restored %q", name, done.Restored)
		}
	}
	w.fails(`could be 0c5f-first "make  [31mit …" or 0c6a-second "make  [31mit …"`, "session_undo", map[string]any{"sessionID": "0c"})
	w.fails("hint: the tool sessions lists", "session_undo", map[string]any{"sessionID": "first"})
}
