package session_test

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// kid is a step of a sub-agent of the session "s-1" that writes a file.
func (f *fixture) kid(id, file string) {
	f.Helper()
	if _, err := f.Begin(background, session.SessionBegin{ID: id, Parent: "s-1"}); err != nil {
		f.Fatal(err)
	}
	f.turn(id, "m-"+file, "Look into it", file, file+"\n")
}

// The sub-agents of a session go on with it: their work is restored, and a way back takes it back.
func TestResumeWithSubAgents(t *testing.T) {
	t.Parallel()
	remote := remoteOf(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.turn("s-1", "m-1", "Fix the login", "a", "2\n")
	f.kid("kid", "b")
	f.turn("other", "m-1", "Something else", "o", "1\n")
	if err := os.Remove(f.path("o")); err != nil {
		t.Fatal(err)
	}
	f.kid("kid", "c")
	g, h := f.machine(gittest.Tree{}), f.machine(gittest.Tree{})
	f.sent(remote)
	if _, _, err := g.repo.FetchSession(background, remote, "s-1"); err != nil {
		t.Fatal(err)
	}
	h.got(remote)
	for _, m := range []*fixture{g, h} {
		for range 2 {
			m.resume()
			m.is("b", "b\n")
			m.is("c", "c\n")
		}
		if s, err := m.Get(background, "kid"); err != nil || s.Fetched != nil || s.Parent != "s-1" {
			t.Errorf("sub-agent %+v, %v", s, err)
		}
		if s, err := m.Get(background, "other"); err == nil && s.Fetched == nil {
			t.Errorf("another session goes on here: %+v", s)
		}
	}
	if _, _, err := g.UndoTurn(background, "s-1", session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b", "c"} {
		if _, err := os.Stat(g.path(name)); err == nil {
			t.Errorf("%s is there after the turn was taken back", name)
		}
	}
	f.kid("kid", "d") // the first machine goes on with the sub-agent alone
	f.sent(remote)
	h.got(remote)
	h.resume()
	h.is("d", "d\n")
}

// A sub-agent of another store, whose line of the session is older, does not decide what is restored.
func TestResumeBesideAnotherSubAgent(t *testing.T) {
	t.Parallel()
	f, g, remote := resumed(t)
	g.turn("s-1", "m-2", "Here", "b", "b\n")
	f.turn("s-1", "m-3", "There", "c", "c\n")
	g.kid("kid", "d")
	f.turn("s-1", "m-4", "There", "e", "e\n")
	g.kid("kid", "f")
	g.sent(remote)
	f.sent(remote)
	h := f.machine(gittest.Tree{})
	h.got(remote)
	h.resume()
	h.has("m-1", "m-3", "m-4")
	h.is("e", "e\n")
	if _, err := os.Stat(h.path("d")); err == nil {
		t.Error("the work of a sub-agent of the other line is here")
	}
	if s, err := h.Get(background, "kid"); err != nil || s.Fetched == nil {
		t.Errorf("sub-agent %+v, %v", s, err)
	}
	if _, err := h.Resume(background, "kid", cairn.RestoreOptions{}); err != nil {
		t.Error(err)
	}
}

// The sub-agents come from the store that has all work of the session, although another one has resumed them since.
func TestResumeSubAgentsOfTheStore(t *testing.T) {
	t.Parallel()
	remote := remoteOf(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.turn("s-1", "m-1", "Fix the login", "a", "2\n")
	f.kid("kid", "b")
	g, h := f.machine(gittest.Tree{}), f.machine(gittest.Tree{})
	f.sent(remote)
	g.got(remote)
	g.resume()
	g.sent(remote)
	f.turn("s-1", "m-2", "And the logout", "c", "3\n")
	f.sent(remote)
	h.got(remote)
	h.resume()
	h.is("c", "3\n")
	if s, err := h.Get(background, "kid"); err != nil || s.Fetched != nil {
		t.Errorf("sub-agent %+v, %v", s, err)
	}
	for range 2 {
		if _, _, err := h.UndoTurn(background, "s-1", session.MoveOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(h.path("b")); err == nil {
		t.Error("the work of the sub-agent is there after its turn was taken back")
	}
}
