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

// A file comes back with its own permission bits where the step had put a directory in its place.
func TestRevertOfADirectoryInAFilesPlaceKeepsTheBits(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]gittest.Tree{
		"empty":      {"key": gittest.Dir()},
		"nested":     {"key/empty": gittest.Dir()},
		"with files": {"key/f": gittest.File("f\n"), "key/empty": gittest.Dir()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("a\n"), "b": gittest.File("b\n"), "key": gittest.FileMode("k\n", 0o600)})
			before := gittest.Manifest(t, f.root)
			f.step("s", "m", "1", func() {
				if err := os.Remove(f.path("key")); err != nil {
					t.Fatal(err)
				}
				gittest.Create(t, f.root, dir)
			})
			after := gittest.Manifest(t, f.root)
			f.revert("s", session.Target{Message: "m"})
			gittest.AssertEqual(t, "after the revert", before, gittest.Manifest(t, f.root))
			f.unrevert("s")
			gittest.AssertEqual(t, "after the unrevert", after, gittest.Manifest(t, f.root))
		})
	}
}
