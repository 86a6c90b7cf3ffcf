package sessiontext

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/session"
)

// TestSession: the title comes first, ids only if they are asked for, and no line is longer than
// Width columns.
func TestSession(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	long := session.Session{ID: "s", Agent: "codex", Open: "x", Parent: "p", Truncated: true, Title: strings.Repeat("漢", 60), Revert: &session.Boundary{Message: "m"}}
	for _, test := range []struct {
		session session.Session
		ids     bool
		want    []string
	}{
		{session.Session{ID: "s", Title: "a title", Messages: 1, Steps: 2}, false, []string{"@~1  a title", "    2 hours ago, 1 message, 2 steps"}},
		{session.Session{ID: "s", Title: "a title"}, true, []string{"@~1  a title", "    2 hours ago, 0 messages, 0 steps, id s"}},
		{session.Session{ID: "s", Title: "a title", Agent: "codex", Model: "gpt-5.5"}, false, []string{"@~1  a title", "    codex, gpt-5.5, 2 hours ago, 0 messages, 0 steps"}},
		{session.Session{ID: "s\n", Agent: "codex"}, false, []string{`@~1  codex "s\n"`, "    2 hours ago, 0 messages, 0 steps"}},
		{long, false, []string{"@~1  " + strings.Repeat("漢", 47) + "…", "    codex, 2 hours ago, 0 messages, 0 steps, running, reverted, beginning cleaned away, sub-agent"}},
		{long, true, []string{
			"@~1  " + strings.Repeat("漢", 47) + "…",
			"    codex, 2 hours ago, 0 messages, 0 steps, running, reverted to m, beginning cleaned away", "    sub-agent of p, id s",
		}},
	} {
		test.session.Updated = now.Add(-2 * time.Hour)
		if got := (Style{Now: now, IDs: test.ids}).Session(&test.session, "@~1"); !slices.Equal(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestTurn: a turn has its number, its prompt, its steps and its sub-agents, and reverted ones say
// so.
func TestTurn(t *testing.T) {
	t.Parallel()
	m := session.Message{ID: "m1", Role: "user", Prompt: "do it\nnow", Reverted: true, Children: []string{"child"}}
	m.Steps = []session.Step{{ID: "t1"}}
	turn := session.Turn{Number: 7, Messages: []session.Message{m, {ID: "m2", Role: "assistant"}}}
	want := []string{"  7  (reverted) do it …", "       running", "       sub-agent", "     assistant"}
	if got := (Style{}).Turn(&turn); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	want = []string{"  7  (reverted) m1  do it …", "       t1  ..  running", "       sub-agent in session child", "     assistant  m2"}
	if got := (Style{IDs: true}).Turn(&turn); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	m.Reverted, m.Truncated, m.Steps, m.Children = false, true, nil, nil
	turn.Messages = []session.Message{m}
	if got := (Style{}).Turn(&turn); !slices.Equal(got, []string{"  7  (its beginning has been cleaned away)"}) {
		t.Errorf("%q", got)
	}
	m.Truncated, m.Prompt = false, ""
	turn.Messages = []session.Message{m}
	if got := (Style{}).Turn(&turn); !slices.Equal(got, []string{"  7  (no prompt recorded)"}) {
		t.Errorf("%q", got)
	}
}

// TestModels: a step names its model, unless that of its session is named already.
func TestModels(t *testing.T) {
	t.Parallel()
	w := &session.Work{Model: "gpt-5.5", Calls: []session.Call{{Tool: "Bash", Command: "ls"}, {Tool: "Edit"}}}
	if got := Work(w, "  "); !slices.Equal(got, []string{"  [gpt-5.5] Bash: ls; Edit"}) {
		t.Errorf("%q", got)
	}
	s := &session.Session{Title: "x", Model: "gpt-5.5", Latest: w}
	if got := Latest(s); !slices.Equal(got, []string{"    Bash: ls; Edit"}) {
		t.Errorf("%q", got)
	}
	steps := []session.Step{{Model: "gpt-5.5", Calls: w.Calls}, {Model: "other"}}
	turn := session.Turn{Number: 1, Messages: []session.Message{{ID: "m", Role: session.RoleUser, Prompt: "go", Steps: steps}}}
	want := []string{"  1  go", "       running", "           Bash: ls; Edit", "       running", "           [other]"}
	if got := (Style{Model: "gpt-5.5"}).Turn(&turn); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
