package session_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestV06_RevertTakesTheDirectoryThatANamedFileMade: a tool names a file in an ignored
// directory that is not there yet. Both go when the step is taken back.
func TestV06_RevertTakesTheDirectoryThatANamedFileMade(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("build\n"), "b": gittest.File("b\n")})
	f.step("s", "m", "1", func() { f.write("build/out/new", "new\n") }, "build/out/new")
	_, res := f.revert("s", session.Target{Message: "m"})
	gittest.AssertTree(t, f.root, gittest.Tree{".gitignore": gittest.File("build\n"), "b": gittest.File("b\n")})
	if !res.Complete() {
		t.Errorf("%+v", res)
	}
}
