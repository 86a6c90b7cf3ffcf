package session_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/session"
)

// TestRootsMadeUpSteps: one root has a step that the other lacks. A step whose name is made up afterwards begins in
// both, so its changes in both go back.
func TestRootsMadeUpSteps(t *testing.T) {
	t.Parallel()
	r := newRoots(t, twoTrees()...)
	a, b := r.all[0], r.all[1]
	r.step("s", "m1", "1", func() { a.write("file", "1\n") })
	b.write("file", "between\n")
	st, err := r.RecordBetween(background, session.StepBetween{Session: "s", Message: "m1+", Prompt: "between"})
	if err != nil || st == nil {
		t.Fatalf("%+v, %v", st, err)
	}
	before := r.manifest()
	made := r.begin("s", "m2", "")
	if made.ID == st.ID {
		t.Errorf("two steps have the name %s", st.ID)
	}
	b.write("file", "2\n")
	r.end("s", made.ID)
	history, err := r.History(background, "s")
	if err != nil {
		t.Fatal(err)
	}
	if last := history[len(history)-1].Steps[0]; len(last.Elsewhere) != 1 || len(last.Elsewhere[0].Patch.Files) != 1 {
		t.Errorf("the step changed elsewhere %+v", last.Elsewhere)
	}
	if _, _, err := r.UndoTurn(background, "s", session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	r.same("after the undo", before)
}
