package session_test

import (
	"errors"
	"path/filepath"
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

// TestOpenStepInAFork: the copy of a step that a fork has is over there, while its owner goes on in the first
// directory. It ends with what the fork began with.
func TestOpenStepInAFork(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("a", "2\n") })
	f.begin("s", "m2", "2")
	f.write("a", "3\n")
	k := &fixture{T: t, root: filepath.Join(t.TempDir(), "fork"), data: f.data}
	if _, err := f.repo.Fork(background, k.root, cairn.ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	k.reopen()
	if open, err := k.OpenSteps(background); err != nil || len(open) > 0 || k.get("s").Open != "" {
		t.Errorf("%+v, %v, %+v", open, err, k.get("s"))
	}
	f.write("a", "4\n")
	k.write("b", "mine\n")
	for _, want := range []string{"2\n", "1\n"} {
		if _, res, err := k.UndoTurn(background, "s", session.MoveOptions{}); err != nil || !res.Complete() || k.read("a") != want {
			t.Errorf("%+v, %v, a %q, want %q", res, err, k.read("a"), want)
		}
	}
	k.unrevert("s")
	if k.read("a") != "3\n" || k.read("b") != "mine\n" {
		t.Errorf("a %q, b %q", k.read("a"), k.read("b"))
	}
	if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{}); !errors.Is(err, session.ErrBusy) {
		t.Errorf("in the first directory: %v", err)
	}
	f.end("s", "2")
	if _, res, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil || !res.Complete() || f.read("a") != "2\n" {
		t.Errorf("%+v, %v, a %q", res, err, f.read("a"))
	}
	k.step("s", "m3", "3", func() { k.write("a", "5\n") })
	k.begin("s", "m4", "4")
	if _, _, err := k.UndoTurn(background, "s", session.MoveOptions{}); !errors.Is(err, session.ErrBusy) {
		t.Errorf("a step of the fork: %v", err)
	}
}

// TestStepThatGoesOnInAFork: the owner of a step ends it in the fork, where it worked then.
func TestStepThatGoesOnInAFork(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.begin("s", "m", "1")
	k := &fixture{T: t, root: filepath.Join(t.TempDir(), "fork"), data: f.data}
	if _, err := f.repo.Fork(background, k.root, cairn.ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	k.reopen()
	k.write("a", "2\n")
	if st := k.end("s", "1"); st.Abandoned || len(st.Files()) != 1 {
		t.Errorf("%+v", st)
	}
	if _, _, err := k.UndoTurn(background, "s", session.MoveOptions{}); err != nil || k.read("a") != "1\n" {
		t.Errorf("a %q, %v", k.read("a"), err)
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
