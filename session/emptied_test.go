package session_test

import (
	"os"
	"path/filepath"
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
		if _, _, err := f.Revert(background, "s", session.Target{Message: "m"}, session.RevertOptions{OnConflict: cairn.Overwrite}); err != nil {
			t.Fatal(err)
		}
		gittest.AssertTree(t, f.root, gittest.Tree{"d/a": gittest.File("a\n"), "b": gittest.File("b\n")})
		f.unrevert("s")
		gittest.AssertEqual(t, "after the unrevert", before, gittest.Manifest(t, f.root))
	}
}
