package session_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestRevertBesideFork: a fork has the same steps. Their work is not foreign, whether it is
// reverted in the session or in the fork.
func TestRevertBesideFork(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"s", "f"} {
		f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
		f.step("s", "m", "1", func() { f.write("a", "2\n") })
		if _, err := f.Fork(background, "s", "", "f"); err != nil {
			t.Fatal(err)
		}
		if _, res := f.revert(id, session.Target{Message: "m"}); !res.Complete() || f.read("a") != "1\n" {
			t.Errorf("%s: %q, %+v", id, f.read("a"), res.Conflicts)
		}
	}
}

// TestForkBehindAPart: a message is taken back from one of its parts on. A fork begins with the state before that
// part, and its steps are those that led there.
func TestForkBehindAPart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("0\n")})
	for _, n := range []string{"1", "2"} {
		f.begin("s", "m1", n)
		f.write("a", n+"\n")
		e := session.StepEnd{Session: "s", Step: n, Parts: []session.Part{{ID: "p" + n, Type: session.PartTool}}}
		if _, err := f.EndStep(background, e); err != nil {
			t.Fatal(err)
		}
	}
	f.step("s", "m2", "3", func() { f.write("a", "3\n") })
	f.revert("s", session.Target{Part: "p2"})
	fork, err := f.Fork(background, "s", "", "f")
	if err != nil {
		t.Fatal(err)
	}
	f.write("a", "mine\n")
	if _, err := f.repo.Restore(background, fork.Fork.Checkpoint, cairn.RestoreOptions{}); err != nil || f.read("a") != "1\n" {
		t.Errorf("a is %q, %v", f.read("a"), err)
	}
	history, err := f.History(background, "f")
	if err != nil || fork.Messages != 1 || fork.Steps != 1 || len(history) != 1 || len(history[0].Steps) != 1 || history[0].Steps[0].ID != "1" {
		t.Errorf("%+v has %+v, %v", fork, history, err)
	}
	if _, _, err := f.UndoTurn(background, "f", session.MoveOptions{}); err != nil || f.read("a") != "0\n" {
		t.Errorf("a is %q, %v", f.read("a"), err)
	}
}
