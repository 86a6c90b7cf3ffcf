package session_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// tip is the newest checkpoint of a session's line.
func (f *fixture) tip(id string) string {
	f.Helper()
	e, err := access.Lines(f.repo).Tip(id)
	if err != nil {
		f.Fatal(err)
	}
	return e.ID
}

// wantHeld takes back and expects that nothing is recorded, and that a dry run says the same.
func (f *fixture) wantHeld(opt session.MoveOptions, conflicts int, left int) {
	f.Helper()
	tip := f.tip("s")
	for _, opt.DryRun = range []bool{true, false} {
		s, res, err := f.UndoTurn(background, "s", opt)
		if err != nil {
			f.Fatal(err)
		}
		if res.Operation != "" || res.DryRun != opt.DryRun || res.Complete() || len(res.Conflicts)+len(res.Kept) != conflicts || s.Messages != left {
			f.Errorf("dry run %v: %+v, %d messages", opt.DryRun, res, s.Messages)
		}
	}
	if s := f.get("s"); s.Messages != left || f.tip("s") != tip {
		f.Errorf("%d messages are left, newest event %s, was %s", s.Messages, f.tip("s"), tip)
	}
}

// TestATurnInConflictStays: a turn of which nothing goes back is not taken back. Insisting takes it.
func TestATurnInConflictStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"x": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("x", "agent\n") })
	f.write("x", "user\n")
	f.wantHeld(session.MoveOptions{}, 1, 1)
	f.wantHeld(session.MoveOptions{OnConflict: cairn.Keep}, 1, 1)
	f.wantHeld(session.MoveOptions{EndOpen: true}, 1, 1)
	if _, res := f.unrevert("s"); res.Operation != "" || !res.Complete() {
		t.Errorf("unrevert: %+v", res)
	}
	if _, _, err := f.RedoTurn(background, "s", session.MoveOptions{}); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("redo: %v", err)
	}
	s, res, err := f.UndoTurn(background, "s", session.MoveOptions{OnConflict: cairn.Overwrite})
	if err != nil || res.Operation == "" || s.Messages != 0 || f.read("x") != "1\n" {
		t.Errorf("insisting: %+v, %v, x %q", res, err, f.read("x"))
	}
	f.unrevert("s")
	if f.read("x") != "user\n" {
		t.Errorf("x %q", f.read("x"))
	}
}

// TestATurnThatCannotBeChangedStays: the files of a turn refuse every change, here because the user is
// faster. Taking it back again takes this turn, not the one before.
func TestATurnThatCannotBeChangedStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"x": gittest.File("1\n"), "y": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("x", "agent\n") })
	f.step("s", "m2", "2", func() { f.write("y", "agent\n") })
	tip := f.tip("s")
	journal := filepath.Join(f.repo.StoreDir(), "cairn", "journal", "operation")
	faster := gittest.When(background, journal, func() { f.write("y", "agent\nuser\n") })
	s, res, err := f.UndoTurn(faster, "s", session.MoveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Operation != "" || len(res.Conflicts) != 1 || res.Overwritable() || s.Messages != 2 || f.tip("s") != tip || f.read("y") != "agent\nuser\n" {
		t.Errorf("%+v, %d messages", res, s.Messages)
	}
	f.write("y", "agent\n")
	if s, res, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil || s.Messages != 1 || f.read("y") != "1\n" || f.read("x") != "agent\n" {
		t.Errorf("again: %+v, %v", res, err)
	}
}

// TestATurnThatCannotComeBackYet: nothing of it could be changed, here because the user is faster. It can come
// back later, alone or with the turns after it.
func TestATurnThatCannotComeBackYet(t *testing.T) {
	t.Parallel()
	for turns := 1; turns <= 2; turns++ {
		f := newFixture(t, gittest.Tree{"x": gittest.File("1\n"), "y": gittest.File("1\n")})
		f.step("s", "m1", "1", func() { f.write("x", "agent\n") })
		f.step("s", "m2", "2", func() { f.write("y", "agent\n") })
		file := "y"
		for range turns {
			if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if turns == 2 {
			file = "x"
		}
		tip := f.tip("s")
		journal := filepath.Join(f.repo.StoreDir(), "cairn", "journal", "operation")
		s, res, err := f.RedoTurn(gittest.When(background, journal, func() { f.write(file, "1\nuser\n") }), "s", session.MoveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if res.Operation != "" || len(res.Conflicts) != 1 || s.Revert == nil || s.Messages != 2-turns || f.tip("s") != tip {
			t.Errorf("%d turns: %+v, %d messages", turns, res, s.Messages)
		}
		f.write(file, "1\n")
		if s, res, err := f.RedoTurn(background, "s", session.MoveOptions{}); err != nil || s.Messages != 3-turns || f.read(file) != "agent\n" {
			t.Errorf("%d turns, again: %+v, %v", turns, res, err)
		}
	}
}

// wantNotBack brings a turn back and expects that nothing is recorded, and that a dry run says the same.
func (f *fixture) wantNotBack(opt session.MoveOptions, left int) {
	f.Helper()
	tip := f.tip("s")
	for name, move := range map[string]func(context.Context, string, session.MoveOptions) (*session.Session, *cairn.Result, error){
		"redo": f.RedoTurn, "unrevert": f.Unrevert,
	} {
		for _, opt.DryRun = range []bool{true, false} {
			s, res, err := move(background, "s", opt)
			if err != nil {
				f.Fatal(err)
			}
			if res.Operation != "" || res.Complete() || !res.Overwritable() || s.Revert == nil || s.Messages != left {
				f.Errorf("%s, dry run %v: %+v, %d messages", name, opt.DryRun, res, s.Messages)
			}
		}
	}
	if s := f.get("s"); s.Revert == nil || s.Messages != left || f.tip("s") != tip {
		f.Errorf("%d messages are left, newest event %s, was %s", s.Messages, f.tip("s"), tip)
	}
}

// TestATurnInConflictDoesNotComeBack: a turn of which nothing comes back is not brought back. Insisting brings it, and
// so does another try once the later change is gone.
func TestATurnInConflictDoesNotComeBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"x": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("x", "agent\n") })
	f.step("s", "m2", "2", func() { f.write("x", "agent 2\n") })
	f.revert("s", session.Target{Message: "m1"})
	f.write("x", "user\n")
	f.wantNotBack(session.MoveOptions{}, 0)
	f.wantNotBack(session.MoveOptions{OnConflict: cairn.Keep}, 0)
	f.write("x", "1\n")
	if s, res, err := f.RedoTurn(background, "s", session.MoveOptions{}); err != nil || s.Messages != 1 || f.read("x") != "agent\n" {
		t.Errorf("another try: %+v, %v, x %q", res, err, f.read("x"))
	}
	f.write("x", "user\n")
	f.wantNotBack(session.MoveOptions{EndOpen: true}, 1)
	s, res, err := f.RedoTurn(background, "s", session.MoveOptions{OnConflict: cairn.Overwrite})
	if err != nil || res.Operation == "" || s.Revert != nil || f.read("x") != "agent 2\n" {
		t.Errorf("insisting: %+v, %v, x %q", res, err, f.read("x"))
	}
}

// TestATurnThatIsBackAlready: nothing has to change for it, and conflicts of turns that stay behind hold nothing.
func TestATurnThatIsBackAlready(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("a", "agent\n") })
	f.step("s", "m2", "2", func() { f.write("b", "agent\n") })
	f.write("b", "user\n")
	if s, res := f.revert("s", session.Target{Message: "m1"}); len(res.Conflicts) != 1 || s.Messages != 0 {
		t.Errorf("%+v, %d messages", res, s.Messages)
	}
	f.write("a", "agent\n")
	if s, res, err := f.RedoTurn(background, "s", session.MoveOptions{}); err != nil || res.Operation != "" || s.Messages != 1 {
		t.Errorf("%+v, %v, %d messages", res, err, s.Messages)
	}
}

// TestATurnInConflictBeforeOthers: what earlier ways back could not move holds no older turn.
func TestATurnInConflictBeforeOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n"), "c": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("a", "agent\n") })
	f.step("s", "m2", "2", func() { f.write("a", "agent 2\n"); f.write("b", "agent\n"); f.write("c", "agent\n") })
	f.write("b", "user\n")
	if s, res := f.revert("s", session.Target{Message: "m2"}); len(res.Conflicts) != 1 || s.Messages != 1 || f.read("a") != "agent\n" {
		t.Errorf("%+v, %d messages", res, s.Messages)
	}
	f.write("a", "user\n")
	f.wantHeld(session.MoveOptions{}, 2, 1)
	f.write("a", "1\n")
	if s, res := f.revert("s", session.Target{Message: "m1"}); res.Operation != "" || len(res.Conflicts) != 1 || s.Messages != 0 {
		t.Errorf("a is back already: %+v, %d messages", res, s.Messages)
	}
}

// TestAHeldTurnEndsNoStep: the step that is running goes on.
func TestAHeldTurnEndsNoStep(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"x": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("x", "agent\n") })
	f.write("x", "user\n")
	f.begin("s", "m1", "2")
	f.wantHeld(session.MoveOptions{EndOpen: true}, 1, 1)
	if s := f.get("s"); s.Open != "2" {
		t.Errorf("%+v", s)
	}
}

// TestWhatCannotGoBackHoldsNothing: no policy takes the turn back, so the turns before are not behind it.
func TestWhatCannotGoBackHoldsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"big": gittest.File("1\n")})
	large := f.tooLarge(64 << 10)
	f.step("s", "m1", "1", func() { f.write("a", "agent\n") })
	f.step("s", "m2", "2", func() { f.write("big", large) })
	s, res, err := f.UndoTurn(background, "s", session.MoveOptions{})
	if err != nil || res.Operation != "" || len(res.Kept) != 1 || s.Messages != 1 {
		t.Errorf("%+v, %v, %d messages", res, err, s.Messages)
	}
}

// TestATurnInConflictStaysInAllRoots: the roots decide together.
func TestATurnInConflictStaysInAllRoots(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoots(t, twoTrees()...)
			r.turns()
			r.step("s", "m4", "4", func() { r.all[0].write("file", "4\n"); r.all[1].write("more", "4\n") })
			r.all[0].write("file", "user\n")
			r.all[1].write("more", "user\n")
			other := r.all[1-i]
			r.all[i].wantHeld(session.MoveOptions{}, 1, 4)
			if s := other.get("s"); s.Revert != nil {
				t.Errorf("%+v", s.Revert)
			}
			other.write("more", "4\n")
			other.write("file", "4\n")
			s, res, err := r.all[i].UndoTurn(background, "s", session.MoveOptions{DryRun: true})
			if err != nil || s.Messages != 3 || len(res.Elsewhere) != 1 || len(res.Conflicts) != 1 {
				t.Errorf("one root changes, dry run: %+v, %v, %d messages", res, err, s.Messages)
			}
			s, res, err = r.all[i].UndoTurn(background, "s", session.MoveOptions{})
			if err != nil || s.Messages != 3 || res.Operation == "" || len(res.Conflicts) != 1 || other.get("s").Revert == nil {
				t.Errorf("one root changes: %+v, %v, %d messages", res, err, s.Messages)
			}
		})
	}
}

// TestAnUnchangedRootHoldsTheOther: one root has nothing to change, the other is in conflict.
func TestAnUnchangedRootHoldsTheOther(t *testing.T) {
	t.Parallel()
	for i := range 2 {
		r := newRoots(t, twoTrees()...)
		r.step("s", "m1", "1", func() { r.all[1].write("file", "1\n") })
		r.all[1].write("file", "user\n")
		s, res, err := r.all[i].UndoTurn(background, "s", session.MoveOptions{})
		if err != nil || res.Complete() || res.DryRun || s.Revert != nil || r.all[0].get("s").Revert != nil || r.all[1].get("s").Revert != nil {
			t.Errorf("root %d: %+v, %v", i, res, err)
		}
	}
}

// TestGitBackHoldsNoTurn: git was moved back, so the turn is taken back though its file is in conflict. Where git
// has moved since as well, the turn stays.
func TestGitBackHoldsNoTurn(t *testing.T) {
	t.Parallel()
	g := newGitRoot(t)
	g.step("s", "m1", "1", func() { g.write("file", "agent\n"); g.git("branch", "-q", "-D", "topic") })
	g.write("file", "user\n")
	g.git("branch", "topic", "side")
	g.wantHeld(session.MoveOptions{Git: true}, 1, 1)
	g.git("branch", "-q", "-D", "topic")
	s, res, err := g.Revert(background, "s", session.Target{Message: "m1"}, g.plan("s", session.Target{Message: "m1"}))
	if err != nil || s.Messages != 0 || res.Operation == "" || len(res.Conflicts) != 1 || len(res.Git.Changes) != 1 {
		t.Errorf("%+v, %v, %d messages", res, err, s.Messages)
	}
}
