package sessiontext

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/session"
)

// TestSession: the parts of a session are on lines of at most Width characters, all but the
// first one indented.
func TestSession(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		session session.Session
		want    []string
	}{
		{session.Session{ID: "s", Title: "a title", Messages: 1, Steps: 2}, []string{"s  2 hours ago  1 message, 2 steps  a title"}},
		{
			session.Session{ID: "s", Agent: "codex", Open: "x", Parent: "p", Truncated: true, Title: strings.Repeat("t", 50)},
			[]string{
				"s  2 hours ago  codex, 0 messages, 0 steps, running, beginning cleaned away, of p", "    " + strings.Repeat("t", 50),
			},
		},
	} {
		test.session.Updated = now.Add(-2 * time.Hour)
		if got := Session(&test.session, now); !slices.Equal(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestMessage: a message has its steps and sub-sessions below it, and reverted ones say so.
func TestMessage(t *testing.T) {
	t.Parallel()
	m := session.Message{ID: "m1", Role: "user", Prompt: "do it\nnow", Reverted: true, Children: []string{"child"}}
	m.Steps = []session.Step{{ID: "t1"}}
	want := []string{"(reverted) m1  user  do it …", "    t1  ..  running", "    session child"}
	if got := Message(&m, "/root"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	m.Reverted, m.Truncated, m.Steps, m.Children = false, true, nil, nil
	if got := Message(&m, "/root"); !slices.Equal(got, []string{"m1  user  (its beginning has been cleaned away)"}) {
		t.Errorf("%q", got)
	}
}
