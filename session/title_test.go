package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/session"
)

// titles are those of all sessions, by id.
func (f *fixture) titles() map[string]string {
	f.Helper()
	list, err := f.List(background)
	if err != nil {
		f.Fatal(err)
	}
	titles := make(map[string]string)
	for _, s := range list {
		titles[s.ID] = s.Title
	}
	return titles
}

// TestV60_TitleIsTheFirstPrompt: a session without a title of its own has the beginning of its
// first prompt. It keeps that when the turn leaves the session.
func TestV60_TitleIsTheFirstPrompt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.agentStep("s", "m1", "1", "x", func() { f.write("b", "1") })
	f.agentStep("s", "m2", "2", "x", func() { f.write("b", "2") })
	if _, err := f.Begin(background, session.SessionBegin{ID: "named", Title: "a name"}); err != nil {
		t.Fatal(err)
	}
	f.agentStep("named", "n1", "1", "x", func() { f.write("c", "1") })
	if _, err := f.AddMessage(background, session.MessageBegin{Session: "long", Message: "m", Role: "user", Prompt: "\n\n" + strings.Repeat("漢字", 50) + "\nmore"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Fork(background, "s", "m2", "fork"); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"s": "prompt of m1", "named": "a name", "long": strings.Repeat("漢字", 17) + "漢…", "fork": "prompt of m1 (fork)"}
	if got := f.titles(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, _, err := f.Revert(background, "s", session.Target{Start: true}, session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	f.agentStep("s", "m3", "3", "x", func() { f.write("b", "3") })
	f.reopen()
	if got := f.titles()["s"]; got != "prompt of m1" {
		t.Errorf("%q after the first turn has left", got)
	}
}

// TestV60_TitlesOfEarlierReleases: the records of an earlier release have no first prompt.
func TestV60_TitlesOfEarlierReleases(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	err := access.Lines(f.repo).Update(background, func(u *operation.LineUpdate) error {
		_, err := u.Append(background, "old", operation.LineAppend{Message: "m", Capture: true, Record: json.RawMessage(
			`{"v":1,"events":[{"kind":"begin"},{"kind":"message","message":"m1","role":"user","prompt":"fix it\nnow"},{"kind":"message","message":"m2","role":"user","prompt":"second"}],` +
				`"now":{"id":"old","created":1,"at":2,"messages":2,"steps":0,"work":{"sessionID":"old","messageID":"m2","prompt":"second","changed":0}}}`)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.titles()["old"]; got != "fix it …" {
		t.Errorf("%q", got)
	}
}

// TestFindTurn: a turn is named by a whole id, a number from either end, a place from the newest,
// or the beginning of an id.
func TestFindTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	for i, id := range []string{"abc", "abd", "-1", "x"} {
		f.agentStep("s", id, id, "x", func() { f.write("b", fmt.Sprint(i)) })
	}
	if _, err := f.AddMessage(background, session.MessageBegin{Session: "s", Message: "answer", Role: "assistant"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]string{
		"abc": "abc", "1": "abc", "2": "abd", "4": "x", "-1": "-1", "-2": "abd", "-3": "abc", "@": "-1", "@~1": "abd", "x": "x", "an": "answer", "answer": "answer",
	} {
		if got, err := f.FindTurn(background, "s", spec); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", spec, got, err, want)
		}
	}
	for _, spec := range []string{"", "0", "5", "-4", "@~3", "y"} {
		if got, err := f.FindTurn(background, "s", spec); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%q is %q, %v", spec, got, err)
		}
	}
	for spec, want := range map[string]string{"": "x answer", "4": "x answer", "2": "abd", "answer": "answer"} {
		turn, err := f.Turn(background, "s", spec)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, m := range turn.Messages {
			ids = append(ids, m.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("the turn %q has %q, want %q", spec, got, want)
		}
	}
	if turn, err := f.Turn(background, "s", "y"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("the turn y is %v, %v", turn, err)
	}
	_, err := f.FindTurn(background, "s", "ab")
	if !errors.Is(err, cairn.ErrAmbiguous) || !strings.Contains(err.Error(), `abc "prompt of abc" or abd "prompt of abd"`) {
		t.Errorf("%v", err)
	}
}

// TestTurns_MessagesBeforeTheUsers: an agent may work before the user says anything. Its steps are a
// turn: they are listed, have a number, and can be taken back.
func TestTurns_MessagesBeforeTheUsers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	before := gittest.Manifest(t, f.root)
	step := func(message, role, file string) {
		t.Helper()
		if _, err := f.BeginStep(background, session.StepBegin{Session: "s", Message: message, Role: role}); err != nil {
			t.Fatal(err)
		}
		f.write(file, "2")
		if _, err := f.EndStep(background, session.StepEnd{Session: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	step("greeting", "assistant", "early")
	step("prompt", session.RoleUser, "late")
	step("answer", "assistant", "later")
	history, err := f.History(background, "s")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, turn := range session.Turns(history) {
		ids = append(ids, fmt.Sprintf("%d %s %d", turn.Number, turn.ID(), len(turn.Steps())))
	}
	if want := []string{"1 greeting 1", "2 prompt 2"}; !slices.Equal(ids, want) {
		t.Errorf("%q, not %q", ids, want)
	}
	for range 2 {
		if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	gittest.AssertEqual(t, "after two undos", before, gittest.Manifest(t, f.root))
	for range 2 {
		if _, _, err := f.RedoTurn(background, "s", session.MoveOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := f.RedoTurn(background, "s", session.MoveOptions{}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
