package session_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestV42_RecordBetween: what changed since the newest state is a turn of its own. Nothing
// is recorded where nothing changed, beside an open step, and, if it is pending, beside a
// revert; a session that has not begun stays so.
func TestV42_RecordBetween(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	record := func(pending bool) *session.Step {
		t.Helper()
		st, err := f.RecordBetween(background, session.StepBetween{Session: "s", Message: "m1+", Prompt: "between", Meta: map[string]string{"k": "v"}, Pending: pending})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	if record(false) != nil {
		t.Error("a session that has not begun has a step")
	}
	f.begin("s", "m1", "1")
	f.write("a", "2\n")
	if record(false) != nil {
		t.Error("what an open step changes is recorded beside it")
	}
	f.end("s", "1")
	if record(false) != nil {
		t.Error("nothing is recorded as a step")
	}
	for _, text := range []string{"3\n", "4\n"} {
		f.write("a", text)
		if st := record(true); st == nil || st.Message != "m1+" || st.Open() || len(st.Patch.Files) != 1 {
			t.Fatalf("%q: %+v", text, st)
		}
	}
	undo := func(want string) {
		t.Helper()
		if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil || f.read("a") != want {
			t.Errorf("a is %q, not %q; %v", f.read("a"), want, err)
		}
	}
	undo("2\n")
	f.write("a", "5\n")
	if record(true) != nil || f.get("s").Revert == nil {
		t.Error("the revert is final")
	}
	if st := record(false); st == nil || f.get("s").Revert != nil {
		t.Errorf("%+v", st)
	}
	undo("2\n")
	undo("1\n")
}
