package session_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestHintedIgnoredFiles: a path that a tool names is reverted although it is ignored, whether the
// tool made or changed it; an unnamed path stays.
func TestHintedIgnoredFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		".gitignore": gittest.File("*.env\n"), "old.env": gittest.File("1\n"), "late.env": gittest.File("1\n"), "user.env": gittest.File("1\n"),
	})
	f.begin("s", "m", "1", "old.env", f.path("new.env"), "/elsewhere/x")
	f.write("old.env", "2\n")
	f.write("new.env", "2\n")
	f.write("user.env", "2\n")
	f.write("unnamed.env", "2\n")
	if err := f.Hint(background, "s", "", []string{"late.env", "made-late.env"}); err != nil {
		t.Fatal(err)
	}
	f.write("late.env", "2\n")
	f.write("made-late.env", "2\n")
	if st := f.end("s", "1"); len(st.Patch.Files) != 4 {
		t.Errorf("%q", st.Patch.Files)
	}
	after := gittest.Manifest(t, f.root)
	_, res := f.revert("s", session.Target{Message: "m"})
	for name, want := range map[string]string{
		"old.env": "1\n", "new.env": "(absent)", "late.env": "1\n", "made-late.env": "(absent)", "user.env": "2\n", "unnamed.env": "2\n",
	} {
		if f.read(name) != want {
			t.Errorf("%s: %q", name, f.read(name))
		}
	}
	if !res.Complete() {
		t.Errorf("%+v", res)
	}
	f.unrevert("s")
	gittest.AssertEqual(t, "after the unrevert", after, gittest.Manifest(t, f.root))
}

// TestHintOfAFileThatTheStepMade: a tool makes a file, and a later tool of the same step, or a sub-agent
// beside it, names the file. It goes with the step.
func TestHintOfAFileThatTheStepMade(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	before := gittest.Manifest(t, f.root)
	f.begin("s", "m", "1")
	f.write("made", "1\n")
	if err := f.Hint(background, "s", "1", []string{"made"}); err != nil {
		t.Fatal(err)
	}
	f.write("made", "2\n")
	f.write("sub", "1\n")
	if _, err := f.Begin(background, session.SessionBegin{ID: "child", Parent: "s"}); err != nil {
		t.Fatal(err)
	}
	f.step("child", "m", "c1", func() { f.write("sub", "2\n") }, "sub")
	f.end("s", "1")
	_, res := f.revert("s", session.Target{Message: "m"})
	gittest.AssertEqual(t, "after the revert", before, gittest.Manifest(t, f.root))
	if !res.Complete() || len(res.Deleted) != 2 {
		t.Errorf("%+v", res)
	}
}

// TestLateStepThatMakesAFile: a tool comes back after its session was taken back. The file that it was about to
// make, and made by then, goes with the step that records it.
func TestLateStepThatMakesAFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	before := gittest.Manifest(t, f.root)
	f.begin("s", "m", "1", "made")
	f.write("a", "b\n")
	if _, _, err := f.Revert(background, "s", session.Target{Message: "m"}, session.MoveOptions{EndOpen: true}); err != nil {
		t.Fatal(err)
	}
	f.write("made", "1\n")
	f.end("s", "1")
	if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	gittest.AssertEqual(t, "after the undo", before, gittest.Manifest(t, f.root))
}
