package session_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestBrief: a brief session is the same as the whole one, less what its files tell.
func TestBrief(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	if _, err := f.Brief(background, "s"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("an unknown session: %v", err)
	}
	for i, id := range []string{"one", "two"} {
		f.agentStep("s", "m"+id, id, "x", func() { f.write("b", fmt.Sprint(i)) })
	}
	for _, reverted := range []bool{false, true} {
		if reverted {
			if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		want, err := f.Get(background, "s")
		if err != nil || want.Summary == nil || want.Summary.Files != 1 || (want.Revert != nil) != reverted {
			t.Fatalf("%+v, %v", want, err)
		}
		want.Summary, want.Children = nil, nil
		if reverted {
			want.Revert.Diff = ""
		}
		got, err := f.Brief(background, "s")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("reverted %v: %v (- wanted, + got)\n%s", reverted, err, diff)
		}
	}
}

// TestBeginWith: a message begins its session, and a known session keeps its values.
func TestBeginWith(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	for n, agent := range []string{"first", "second"} {
		m, err := f.BeginWith(background, session.SessionBegin{ID: "s", Meta: map[string]string{session.MetaAgent: agent}},
			session.MessageBegin{Session: "s", Message: fmt.Sprint(n), Role: session.RoleUser, Prompt: "go"})
		if err != nil || m.ID != fmt.Sprint(n) || m.Prompt != "go" {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if s, err := f.Get(background, "s"); err != nil || s.Messages != 2 || s.Meta[session.MetaAgent] != "first" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := f.BeginWith(background, session.SessionBegin{ID: "@"}, session.MessageBegin{Session: "@", Message: "1"}); err == nil {
		t.Error("a place among sessions is taken for an id")
	}
}
