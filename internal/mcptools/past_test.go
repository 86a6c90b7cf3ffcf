package mcptools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// newPast is a project in which an agent wrote and its user deleted a line.
func newPast(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, gittest.Tree{"a": gittest.File("one\ntwo\n")})
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(w.dir, "a"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	track := func() {
		if _, err := w.repo.Track(t.Context(), cairn.TrackOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	track()
	s := session.New(w.repo)
	_, err := s.BeginStep(t.Context(), session.StepBegin{
		Session: "s", Message: "m", Role: session.RoleUser, Step: "1", Prompt: "add three", Meta: map[string]string{session.MetaAgent: "codex", session.MetaTool: "Edit"},
	})
	if err != nil {
		t.Fatal(err)
	}
	write("one\ntwo\nthree\n")
	if _, err := s.EndStep(t.Context(), session.StepEnd{Session: "s", Step: "1"}); err != nil {
		t.Fatal(err)
	}
	write("one\nthree\n")
	track()
	return w
}

func wantText(t *testing.T, what, text string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("%s does not say %q:\n%s", what, part, text)
		}
	}
}

// TestPastOfTools: blame, log, grep and show tell who did what.
func TestPastOfTools(t *testing.T) {
	t.Parallel()
	w := newPast(t)
	var b answers.Blame
	text := w.call("blame", map[string]any{"path": "a", "deleted": true}, &b)
	wantText(t, "blame", text, "1  [user, ", "2  [codex: add three, ", "]  three", "-  [user, ", "deleted by [user, ", "]  two")
	if len(b.Lines) != 2 || b.Origins[b.Lines[1].Origin].Work.Prompt != "add three" || len(b.Deleted) != 1 {
		t.Errorf("%+v", b)
	}
	text = w.call("blame", map[string]any{"path": "a", "limit": 1}, &b)
	if len(b.Lines) != 1 || !b.More || !strings.Contains(text, "limit raises the number") {
		t.Errorf("%+v %s", b, text)
	}
	wantText(t, "blame behind the end", w.call("blame", map[string]any{"path": "a", "lines": "7,9"}, &b), "no such lines; its last one is 2")
	w.call("blame", map[string]any{"path": "a", "lines": "2,2"}, &b)
	if len(b.Lines) != 1 || b.Lines[0].Text != "three" {
		t.Errorf("%+v", b)
	}

	var list checkpointList
	for _, args := range []map[string]any{{"grep": "add", "paths": []string{"a"}}, {"text": "three"}, {"sessionID": "s", "paths": []string{"a"}}} {
		wantText(t, "log", w.call("log", args, &list), "codex: add three", "Edit")
		if len(list.Checkpoints) != 1 {
			t.Errorf("%v: %+v", args, list)
		}
	}
	if text := w.call("log", map[string]any{"since": "2100-01-01T00:00:00Z"}, &list); len(list.Checkpoints) != 0 || text != "no checkpoint is like that" {
		t.Errorf("%+v %s", list, text)
	}

	var g answers.Grep
	if text := w.call("grep", map[string]any{"pattern": "^t"}, &g); text != "a:2:three\n" || len(g.Lines) != 1 || g.Lines[0].Line != 2 {
		t.Errorf("%+v %s", g, text)
	}
	wantText(t, "grep", w.call("grep", map[string]any{"pattern": "two", "deleted": true}, &g), ":a:2:two\n")
	if len(g.Lines) != 1 || len(g.Lines[0].Checkpoint) != 40 {
		t.Errorf("%+v", g)
	}
	if text := w.call("grep", map[string]any{"pattern": "two"}, &g); text != "no line matches" || len(g.Lines) != 0 {
		t.Errorf("%+v %s", g, text)
	}

	var shown struct {
		Prompt, Patch string
		Files         []fileDiff
	}
	for _, of := range []string{"s:1", "@~1"} {
		wantText(t, of, w.call("show", map[string]any{"of": of}, &shown), "codex", "    add three\n", "    [Edit]\n", "+three")
		if shown.Prompt != "add three" || len(shown.Files) != 1 || !strings.Contains(shown.Patch, "+three") {
			t.Errorf("%s: %+v", of, shown)
		}
	}
	wantText(t, "show", w.call("show", map[string]any{}, &shown), "checkpoint ", "-two")
}

// TestWrongArgumentsOfThePast: an error says what is wanted.
func TestWrongArgumentsOfThePast(t *testing.T) {
	t.Parallel()
	w := newPast(t)
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"blame", map[string]any{"path": ""}, "empty"},
		{"blame", map[string]any{"path": "none"}, "not found"},
		{"blame", map[string]any{"path": "a", "lines": "x"}, "START,END"},
		{"blame", map[string]any{"path": "a", "limit": -1}, "below 0"},
		{"blame", map[string]any{"path": "../x"}, "outside"},
		{"log", map[string]any{"grep": "("}, "regular expression"},
		{"log", map[string]any{"since": "soon"}, "2026-01-31T15:04:05Z"},
		{"log", map[string]any{"paths": []string{"none"}}, "not found"},
		{"grep", map[string]any{"pattern": "("}, "regular expression"},
		{"grep", map[string]any{"pattern": ""}, "want a pattern"},
		{"grep", map[string]any{"pattern": "x", "deleted": true, "hash": "@"}, "without hash"},
		{"show", map[string]any{"of": "none"}, "not found"},
		{"show", map[string]any{"of": "s:9"}, "not found"},
	} {
		w.fails(c.want, c.tool, c.args)
	}
}
