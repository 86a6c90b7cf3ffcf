package session_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestPathsThatNoDiskHas: a tool's arguments name what a model writes. A path with a NUL stays a path
// that nothing has, and the record of the step can be read.
func TestPathsThatNoDiskHas(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	s := session.New(f.repo)
	odd := []string{"\x00", "a\x00b", "\x00ff", "/\x00", "\xff", ""}
	if _, err := s.BeginStep(f.Context(), session.StepBegin{Session: "s", Message: "m", Role: session.RoleUser, Paths: odd}); err != nil {
		t.Fatal(err)
	}
	if err := s.Hint(f.Context(), "s", "", odd); err != nil {
		t.Error(err)
	}
	f.write("a", "b\n")
	step, err := s.EndStep(f.Context(), session.StepEnd{Session: "s", Paths: odd})
	if err != nil || len(step.Patch.Files) != 1 {
		t.Fatal(step, err)
	}
	if _, _, err := s.Revert(f.Context(), "s", session.Target{Message: "m"}, session.MoveOptions{}); err != nil {
		t.Error(err)
	}
	if got := f.read("a"); got != "a\n" {
		t.Errorf("a holds %q", got)
	}
}
