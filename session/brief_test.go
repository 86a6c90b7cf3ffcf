package session_test

import (
	"errors"
	"fmt"
	"runtime"
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

// TestOtherSessionsAreReadOnce: the answer about one session depends on all others, whose newest records are read once.
// Those that have changed are read again. It does not run beside other tests, because allocations are counted for the
// whole process.
func TestOtherSessionsAreReadOnce(t *testing.T) {
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	for i := range 60 {
		id := fmt.Sprintf("s%d", i)
		if _, err := f.AddMessage(background, session.MessageBegin{Session: id, Message: "m", Role: session.RoleUser, Prompt: "go " + id}); err != nil {
			t.Fatal(err)
		}
	}
	f.reopen()
	var bytes [2]uint64
	for i := range bytes {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := f.History(background, fmt.Sprintf("s%d", i)); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		bytes[i] = after.TotalAlloc - before.TotalAlloc
	}
	if bytes[1] > bytes[0]/3 {
		t.Errorf("%d bytes for the first session, %d for the second", bytes[0], bytes[1])
	}
	other := session.New(f.repo)
	if _, err := other.AddMessage(background, session.MessageBegin{
		Session: "new", Message: "m", Role: session.RoleUser,
	}); err != nil {
		t.Fatal(err)
	}
	if err := other.Delete(background, "s2"); err != nil {
		t.Fatal(err)
	}
	if list, err := f.List(background); err != nil || len(list) != 60 || list[0].ID != "new" {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

// TestFetchedSessionsAreReadOnce: so it is with the sessions that another machine has pushed, of which a team's page
// shows hundreds.
func TestFetchedSessionsAreReadOnce(t *testing.T) {
	remote := remoteOf(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	g := f.machine(gittest.Tree{"a": gittest.File("1\n")})
	begin := func(i int) {
		t.Helper()
		_, err := f.AddMessage(background, session.MessageBegin{Session: fmt.Sprintf("s%d", i), Message: "m", Role: session.RoleUser, Prompt: fmt.Sprintf("go %d", i)})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 60 {
		begin(i)
	}
	f.sent(remote)
	g.got(remote)
	var bytes [2]uint64
	for i := range bytes {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := g.History(background, fmt.Sprintf("s%d", i)); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		bytes[i] = after.TotalAlloc - before.TotalAlloc
	}
	if bytes[1] > bytes[0]/3 {
		t.Errorf("%d bytes for the first session, %d for the second", bytes[0], bytes[1])
	}
	f.turn("s7", "m2", "go on", "b", "2\n")
	begin(60)
	f.sent(remote)
	g.got(remote)
	list, err := g.List(background)
	if err != nil || len(list) != 61 || list[0].ID != "s60" || list[1].ID != "s7" || list[1].Messages != 2 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}
