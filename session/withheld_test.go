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

// TestRevertLeavesLaterDirectoriesInAFilesPlace: a step removes a file, and directories without files
// are made in its place later. They are later work like any other. With Overwrite the file comes back.
func TestRevertLeavesLaterDirectoriesInAFilesPlace(t *testing.T) {
	t.Parallel()
	for name, later := range map[string][]string{"empty": {"gone"}, "with a directory in it": {"gone/in/deep"}, "in a directory of the step": {"made/later"}} {
		for _, policy := range []cairn.Policy{cairn.Merge, cairn.Keep, cairn.Overwrite} {
			t.Run(name+", "+string(policy), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, gittest.Tree{"gone": gittest.File("gone\n"), "made": gittest.File("made\n"), "a": gittest.File("a\n")})
				before := gittest.Manifest(t, f.root)
				f.step("s", "m", "1", func() {
					f.remove("gone")
					f.remove("made")
					for _, dir := range []string{"made", "made/own"} {
						if err := os.Mkdir(f.path(dir), 0o755); err != nil {
							t.Fatal(err)
						}
					}
					f.write("a", "2\n")
				})
				for _, dir := range later {
					if err := os.MkdirAll(f.path(dir), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				after := gittest.Manifest(t, f.root)
				_, res, err := f.Revert(background, "s", session.Target{Message: "m"}, session.MoveOptions{OnConflict: policy})
				if err != nil {
					t.Fatal(err)
				}
				if policy == cairn.Overwrite {
					gittest.AssertEqual(t, "overwritten", before, gittest.Manifest(t, f.root))
				} else {
					for _, dir := range later {
						if info, err := os.Lstat(f.path(dir)); err != nil || !info.IsDir() {
							t.Errorf("%s: %v, %+v", dir, err, res)
						}
					}
					if res.Complete() || f.read("a") != "a\n" {
						t.Errorf("%+v", res)
					}
				}
				if _, _, err := f.Unrevert(background, "s", session.MoveOptions{}); err != nil {
					t.Fatal(err)
				}
				gittest.AssertEqual(t, "after the unrevert", after, gittest.Manifest(t, f.root))
			})
		}
	}
}
