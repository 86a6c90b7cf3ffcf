package session_test

import (
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestScopes: what each scope holds of two turns, the first of which has two answers.
func TestScopes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	for _, m := range []struct{ id, role string }{{"u1", session.RoleUser}, {"r1", "assistant"}, {"r2", "assistant"}, {"u2", session.RoleUser}, {"r3", "assistant"}} {
		if _, err := f.AddMessage(background, session.MessageBegin{Session: "s", Message: m.id, Role: m.role}); err != nil {
			t.Fatal(err)
		}
		if m.role != session.RoleUser {
			if _, err := f.BeginStep(background, session.StepBegin{Session: "s", Message: m.id, Step: m.id}); err != nil {
				t.Fatal(err)
			}
			f.write("by-"+m.id, m.id)
			f.end("s", m.id)
		}
	}
	for _, c := range []struct {
		in   session.Scope
		want []string
	}{
		{session.Scope{}, []string{"by-r1", "by-r2", "by-r3"}},
		{session.Scope{Message: "u1"}, nil},
		{session.Scope{Message: "r1"}, []string{"by-r1"}},
		{session.Scope{Message: "u1", Turn: true}, []string{"by-r1", "by-r2"}},
		{session.Scope{Message: "r2", Turn: true}, []string{"by-r2"}},
		{session.Scope{Message: "u2", Turn: true}, []string{"by-r3"}},
		{session.Scope{Message: "r2", Rest: true}, []string{"by-r2", "by-r3"}},
	} {
		list, err := f.Changes(background, "s", c.in)
		var got []string
		for _, ch := range list {
			got = append(got, ch.Path)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

// TestScopesWithoutUser: in a session without messages of the user each message is a turn, also in a scope.
func TestScopesWithoutUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	for _, id := range []string{"m1", "m2"} {
		if _, err := f.BeginStep(background, session.StepBegin{Session: "s", Message: id, Step: id}); err != nil {
			t.Fatal(err)
		}
		f.write("by-"+id, id)
		f.end("s", id)
	}
	for _, id := range []string{"m1", "m2"} {
		list, err := f.Changes(background, "s", session.Scope{Message: id, Turn: true})
		if err != nil || len(list) != 1 || list[0].Path != "by-"+id {
			t.Errorf("%s: %+v, %v", id, list, err)
		}
	}
}
