package session_test

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

func TestV03_StepsSeeDirectoryModes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a/f": gittest.File("x"), "b/f": gittest.File("x"), "c/f": gittest.File("x")})
	dirs := []string{"a", "b", "c"}
	assert := func(what string, perm os.FileMode) {
		t.Helper()
		for _, dir := range dirs {
			if info, err := os.Stat(f.path(dir)); err != nil || info.Mode().Perm() != perm {
				t.Errorf("%s: %s is %v, %v", what, dir, info.Mode().Perm(), err)
			}
		}
	}
	st := f.step("s", "m", "1", func() {
		for _, dir := range dirs {
			os.Chmod(f.path(dir), 0o700)
		}
	})
	if len(st.Patch.Files) != len(dirs) {
		t.Errorf("the step changed %q", st.Patch.Files)
	}
	list, err := f.Changes(background, "s", session.Scope{})
	if err != nil || len(list) != len(dirs) || list[0].OldPerm != 0o755 || list[0].NewPerm != 0o700 {
		t.Errorf("%+v, %v", list, err)
	}
	f.revert("s", session.Target{Message: "m"})
	assert("reverted", 0o755)
	f.unrevert("s")
	assert("brought back", 0o700)
}
