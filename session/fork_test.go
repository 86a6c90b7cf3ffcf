package session_test

import (
	"testing"

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
