package session_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

func part(id, kind string) session.Part { return session.Part{ID: id, Type: kind} }

// TestBoundaries: where a revert goes back to, as OpenCode has it.
func TestBoundaries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		to            session.Target
		message, part string
		a             string // contents afterwards: the number of steps that are left
	}{
		{"the user's message", session.Target{Message: "u1"}, "u1", "", "0"},
		{"an answer shows the user's message", session.Target{Message: "a2"}, "u1", "", "2"},
		{"the next turn", session.Target{Message: "u2"}, "u2", "", "3"},
		{"the first part of a message is dropped", session.Target{Part: "a1-text"}, "u1", "", "0"},
		{"a part behind a text is kept", session.Target{Part: "a1-tool"}, "a1", "a1-tool", "0"},
		{"a part of the second step", session.Target{Part: "a1-tool2"}, "a1", "a1-tool2", "1"},
		{"behind the patch of the step", session.Target{Part: "a1-after"}, "a1", "a1-after", "1"},
		{"a part in another message", session.Target{Message: "u2", Part: "a1-tool2"}, "a1", "a1-tool2", "1"},
		{"the text of the user", session.Target{Part: "u1-text"}, "u1", "", "0"},
		{"everything", session.Target{Start: true}, "u1", "", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("0")})
			conversation(f)
			s, _ := f.revert("s", c.to)
			if s.Revert.Message != c.message || s.Revert.Part != c.part || f.read("a") != c.a {
				t.Errorf("at %s %s, a %q", s.Revert.Message, s.Revert.Part, f.read("a"))
			}
		})
	}
}

// conversation has two turns: u1, a1 with two steps, a2 with one; u2, a3 with one.
func conversation(f *fixture) {
	f.Helper()
	message := func(id, role string, parts ...session.Part) {
		if _, err := f.AddMessage(background, session.MessageBegin{Session: "s", Message: id, Role: role, Parts: parts}); err != nil {
			f.Fatal(err)
		}
	}
	step := func(id, message, content string, parts ...session.Part) {
		if _, err := f.BeginStep(background, session.StepBegin{Session: "s", Message: message, Role: "assistant", Step: id}); err != nil {
			f.Fatal(err)
		}
		f.write("a", content)
		if _, err := f.EndStep(background, session.StepEnd{Session: "s", Step: id, Parts: parts}); err != nil {
			f.Fatal(err)
		}
	}
	message("u1", session.RoleUser, part("u1-text", session.PartText))
	step("1", "a1", "1", part("a1-text", session.PartText), part("a1-tool", session.PartTool), part("a1-patch", session.PartPatch), part("a1-after", "other"))
	step("2", "a1", "2", part("a1-tool2", session.PartTool))
	step("3", "a2", "3")
	message("u2", session.RoleUser, part("u2-text", session.PartText))
	step("4", "a3", "4")
}

// TestR55_GoingOnAfterAPart: the message stays up to the part, all later ones go.
func TestR55_GoingOnAfterAPart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("0")})
	conversation(f)
	f.revert("s", session.Target{Part: "a1-tool2"})
	s, err := f.Commit(background, "s")
	if err != nil || s.Messages != 2 || s.Steps != 1 || s.Revert != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	list, err := f.History(background, "s")
	if err != nil || len(list) != 2 || len(list[1].Steps) != 1 || len(list[1].Steps[0].Parts) != 4 {
		t.Errorf("%+v, %v", list, err)
	}
	if s, _ := f.revert("s", session.Target{Start: true}); f.read("a") != "0" || s.Messages != 0 {
		t.Errorf("a %q, %+v", f.read("a"), s)
	}
}

// TestUndoAndRedoByTurns: as /undo and /redo of agents do it.
func TestUndoAndRedoByTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("0")})
	conversation(f)
	for _, c := range []struct {
		redo       bool
		a, message string
	}{{false, "3", "u2"}, {false, "0", "u1"}, {true, "3", "u2"}, {true, "4", ""}, {false, "3", "u2"}} {
		move := f.UndoTurn
		if c.redo {
			move = f.RedoTurn
		}
		s, _, err := move(background, "s", session.MoveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if s.Revert != nil {
			got = s.Revert.Message
		}
		if f.read("a") != c.a || got != c.message {
			t.Errorf("%+v: a %q at %q", c, f.read("a"), got)
		}
	}
}
