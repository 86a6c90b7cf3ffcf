package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestV06_RevertLeavesADirectoryThatTheStepFound: the step writes a file into a directory,
// and the user removes the others. The directory stays when the step is taken back.
func TestV06_RevertLeavesADirectoryThatTheStepFound(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"d/a": gittest.File("a\n"), "b": gittest.File("b\n")})
	f.step("s", "m", "1", func() {
		gittest.Create(t, f.root, gittest.Tree{"d/new": gittest.File("n\n"), "made/c/x": gittest.File("x\n")})
	})
	if err := os.Remove(filepath.Join(f.root, "d", "a")); err != nil {
		t.Fatal(err)
	}
	f.revert("s", session.Target{Message: "m"})
	gittest.AssertTree(t, f.root, gittest.Tree{"b": gittest.File("b\n"), "d": gittest.Dir()})
}

// TestV06_RevertLeavesAFileInADirectorysPlace: the step removes an empty directory, and
// the user writes a file there, which stays.
func TestV06_RevertLeavesAFileInADirectorysPlace(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"d/empty": gittest.Dir(), "b": gittest.File("b\n")})
	f.step("s", "m", "1", func() {
		if err := os.RemoveAll(filepath.Join(f.root, "d")); err != nil {
			t.Fatal(err)
		}
	})
	gittest.Create(t, f.root, gittest.Tree{"d": gittest.File("mine\n")})
	f.revert("s", session.Target{Message: "m"})
	gittest.AssertTree(t, f.root, gittest.Tree{"b": gittest.File("b\n"), "d": gittest.File("mine\n")})
}

// TestV06_UnrevertBringsBackWhatWasOverwritten: a revert overwrites a file that is too
// large for a capture. The file comes back with the unrevert.
func TestV06_UnrevertBringsBackWhatWasOverwritten(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for _, captured := range []bool{false, true} {
		f := newFixture(t, gittest.Tree{"d/a": gittest.File("a\n"), "b": gittest.File("b\n")})
		f.step("s", "m", "1", func() {
			if err := os.RemoveAll(filepath.Join(f.root, "d")); err != nil {
				t.Fatal(err)
			}
		})
		gittest.Create(t, f.root, gittest.Tree{"d": gittest.File(strings.Repeat("large\n", cairn.DefaultMaxFileSize/6+1))})
		if captured {
			f.step("s", "m", "2", func() {})
		}
		before := gittest.Manifest(t, f.root)
		if _, _, err := f.Revert(background, "s", session.Target{Message: "m"}, session.MoveOptions{OnConflict: cairn.Overwrite}); err != nil {
			t.Fatal(err)
		}
		gittest.AssertTree(t, f.root, gittest.Tree{"d/a": gittest.File("a\n"), "b": gittest.File("b\n")})
		f.unrevert("s")
		gittest.AssertEqual(t, "after the unrevert", before, gittest.Manifest(t, f.root))
	}
}

// TestV06_RevertLeavesADirectoryThatRulesHad: rules ignored everything before the step,
// itself included. The step removes the rules, and the file in a directory. The directory
// may have been there before, so it stays and is listed.
func TestV06_RevertLeavesADirectoryThatRulesHad(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*\n"), "d/e/x": gittest.File("x\n"), "b": gittest.File("b\n")})
	f.step("s", "m", "1", func() {
		for _, path := range []string{".gitignore", "d/e/x"} {
			if err := os.Remove(filepath.Join(f.root, path)); err != nil {
				t.Fatal(err)
			}
		}
	})
	_, res := f.revert("s", session.Target{Message: "m"})
	gittest.AssertTree(t, f.root, gittest.Tree{"b": gittest.File("b\n"), "d/e": gittest.Dir()})
	if !slices.ContainsFunc(res.Kept, func(k cairn.PathReason) bool { return k.Path == "d/e" }) {
		t.Errorf("kept %v", res.Kept)
	}
}

// TestV06_RevertLeavesAnEmptiedDirectoryThatRulesHad: rules ignored a directory before the
// step, which removes the rules and makes a file there that its tool names. The file goes,
// and the directory may have been there before.
func TestV06_RevertLeavesAnEmptiedDirectoryThatRulesHad(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File(".gitignore\nd\n"), "d/x": gittest.File("x\n"), "b": gittest.File("b\n")})
	f.step("s", "m", "1", func() {
		for _, path := range []string{".gitignore", "d/x"} {
			if err := os.Remove(filepath.Join(f.root, path)); err != nil {
				t.Fatal(err)
			}
		}
		f.write("d/new", "new\n")
	}, "d/new")
	_, res := f.revert("s", session.Target{Message: "m"})
	gittest.AssertTree(t, f.root, gittest.Tree{"b": gittest.File("b\n"), "d": gittest.Dir()})
	if !slices.ContainsFunc(res.Kept, func(k cairn.PathReason) bool { return k.Path == "d" }) {
		t.Errorf("kept %v", res.Kept)
	}
}
