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
