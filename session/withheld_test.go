package session_test

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestUnrevertAfterAHalfOfARenameStayed: the step moves the only file of a directory, and rules
// ignore the new name later. The revert leaves both names as they are. What it made goes with the
// unrevert, also where rules ignore it.
func TestUnrevertAfterAHalfOfARenameStayed(t *testing.T) {
	t.Parallel()
	for name, rules := range map[string]string{"the new name is ignored": "new\n", "both names are ignored": "old\nnew\n"} {
		for _, policy := range []cairn.Policy{cairn.Merge, cairn.Overwrite} {
			t.Run(name+", "+string(policy), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, gittest.Tree{"old/x": gittest.File("moved\n"), "a": gittest.File("a\n")})
				f.step("s", "m", "1", func() {
					f.write("a", "2\n")
					f.write("new/y", "moved\n")
					if err := os.RemoveAll(f.path("old")); err != nil {
						t.Fatal(err)
					}
				})
				f.write(".gitignore", rules)
				before := gittest.Manifest(t, f.root)
				if _, _, err := f.Revert(background, "s", session.Target{Message: "m"}, session.MoveOptions{OnConflict: policy}); err != nil {
					t.Fatal(err)
				}
				gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("a\n"), "new/y": gittest.File("moved\n"), ".gitignore": gittest.File(rules)})
				if _, _, err := f.Unrevert(background, "s", session.MoveOptions{OnConflict: policy}); err != nil {
					t.Fatal(err)
				}
				gittest.AssertEqual(t, "after the unrevert", before, gittest.Manifest(t, f.root))
			})
		}
	}
}
