package session_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestV06_ARefusedRevertEndsNoStep: the message or the policy is not there, a conflict is to fail, or the
// plan is another one. The step that EndOpen would have ended is open as before.
func TestV06_ARefusedRevertEndsNoStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message string
		opt     session.MoveOptions
	}{
		"no such message": {"none", session.MoveOptions{}},
		"a conflict":      {"m1", session.MoveOptions{OnConflict: cairn.Fail}},
		"another plan":    {"m1", session.MoveOptions{Plan: "0123456789abcdef"}},
		"no policy":       {"m1", session.MoveOptions{OnConflict: "shout"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
			f.step("s", "m1", "1", func() { f.write("a", "2\n") })
			f.write("a", "3\n")
			f.begin("s", "m2", "2")
			f.write("b", "2\n")
			c.opt.EndOpen = true
			if _, res, err := f.Revert(background, "s", session.Target{Message: c.message}, c.opt); err == nil {
				t.Fatalf("not refused: %+v", res)
			}
			if st := f.end("s", ""); len(st.Patch.Files) != 1 {
				t.Errorf("the step has %q", st.Patch.Files)
			}
		})
	}
}
