package cairn_test

import (
	"runtime"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestV06_BitsOfIgnoredDirectoriesGoBackAndForth: rules ignore a directory today that
// the target holds. The restore sets its bits, and undo gives them back.
func TestV06_BitsOfIgnoredDirectoriesGoBackAndForth(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("directories have no permission bits")
	}
	f := newFixture(t, gittest.Tree{"d": gittest.DirMode(0o700), "a": gittest.File("1\n")})
	hash := f.trackAll()
	f.write(".gitignore", "d/\n")
	f.chmod("d", 0o755)
	f.restoreAll(hash)
	gittest.AssertTree(t, f.root, gittest.Tree{"d": gittest.DirMode(0o700), "a": gittest.File("1\n")})
	f.undo(cairn.RevertOptions{})
	gittest.AssertTree(t, f.root, gittest.Tree{
		"d": gittest.DirMode(0o755), "a": gittest.File("1\n"), ".gitignore": gittest.File("d/\n"),
	})
}

// TestV06_UndoLeavesDirectoriesChangedSince: an operation made a directory, and the user
// gave it other bits. Undo leaves it, and lists it.
func TestV06_UndoLeavesDirectoriesChangedSince(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("directories have no permission bits")
	}
	f := newFixture(t, gittest.Tree{"d": gittest.Dir(), "a": gittest.File("1\n")})
	hash := f.trackAll()
	f.remove("d")
	f.restoreAll(hash)
	f.chmod("d", 0o700)
	res := f.undo(cairn.RevertOptions{})
	if len(res.Conflicts) != 1 || res.Conflicts[0].Path != "d" {
		t.Errorf("%+v", res)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{"d": gittest.DirMode(0o700), "a": gittest.File("1\n")})
}

// TestV06_RevertMakesNoDirectoryThatIsNotItsOwn: both ends of a range have an empty
// directory that the user removed later. The revert of the range leaves it gone.
func TestV06_RevertMakesNoDirectoryThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"d": gittest.Dir(), "a": gittest.File("1\n")})
	from := f.trackAll()
	f.write("a", "2\n")
	to := f.trackAll()
	f.remove("d")
	if _, err := f.repo().Revert(f.Context(), cairn.Range{From: from, To: to}, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("1\n")})
}

// TestUndoPutsAFileInPlaceOfADirectoryThatRulesHide: a restore replaces a file by a directory
// with a directory in it that rules ignore by now. Undo takes both away, and the file is back.
func TestUndoPutsAFileInPlaceOfADirectoryThatRulesHide(t *testing.T) {
	t.Parallel()
	for rule, own := range map[string]bool{"b/\n": true, "a/\n": true, "x\n": true, "b/\na/b/y\n": false} {
		f := newFixture(t, gittest.Tree{"a/b/x": gittest.File("1\n")})
		hash := f.trackAll()
		f.remove("a")
		f.write("a", "a file\n")
		f.write(".gitignore", rule)
		if _, err := f.repo().Restore(f.Context(), hash, cairn.RestoreOptions{KeepNew: true}); err != nil {
			t.Fatal(err)
		}
		want := gittest.Tree{"a": gittest.File("a file\n"), ".gitignore": gittest.File(rule)}
		if !own {
			f.write("a/b/y", "of the user\n")
			want["a/b/x"], want["a/b/y"] = gittest.File("1\n"), gittest.File("of the user\n")
			delete(want, "a")
		}
		res := f.undo(cairn.RevertOptions{})
		if own != (len(res.Conflicts) == 0) {
			t.Errorf("rules %q: %+v", rule, res)
		}
		gittest.AssertTree(t, f.root, want)
	}
}
