package session_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestRepeatedBeginBesideARevert: the beginning of an earlier step comes a second time while a later turn is taken
// back. Nothing is final by that: the turn comes back, and goes again with the work of its sub-agent.
func TestRepeatedBeginBesideARevert(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.step("s", "m1", "p1", func() { f.write("a", "1\n") })
	f.begin("s", "m2", "p2")
	if _, err := f.Begin(background, session.SessionBegin{ID: "child", Parent: "s"}); err != nil {
		t.Fatal(err)
	}
	f.end("s", "p2")
	f.step("child", "c", "c1", func() { f.write("sub", "sub\n") })
	undo := func() {
		t.Helper()
		if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil || f.read("sub") != "(absent)" || f.read("a") != "1\n" {
			t.Fatalf("sub is %q, a is %q; %v", f.read("sub"), f.read("a"), err)
		}
	}
	undo()
	if st := f.begin("s", "m1", "p1"); st.Open() || f.get("s").Revert == nil {
		t.Errorf("the step begins again: %+v", st)
	}
	if _, _, err := f.RedoTurn(background, "s", session.MoveOptions{}); err != nil || f.read("sub") != "sub\n" {
		t.Fatalf("sub is %q; %v", f.read("sub"), err)
	}
	undo()
	f.step("s", "m3", "p3", func() { f.write("a", "3\n") })
	if child := f.get("child"); child.Steps != 0 {
		t.Errorf("the child still has %d steps", child.Steps)
	}
}
