package cairn_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// revertRange takes back what changed between two checkpoints.
func (f *fixture) revertRange(from, to string, opt cairn.RevertOptions) *cairn.Result {
	f.Helper()
	res, err := f.repo().Revert(f.Context(), cairn.Range{From: from, To: to}, opt)
	if err != nil {
		f.Fatal(err)
	}
	return res
}

func keptPaths(list []cairn.PathReason) (paths []string) {
	for _, k := range list {
		paths = append(paths, string(k.Path))
	}
	return paths
}

// An unreadable file stands where a directory was: nothing lies below it, so the files of
// the directory are known to be gone.
func TestV06_RevertBringsBackADirectoryBehindAnUnreadableFile(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("the superuser reads every file")
	}
	f := newFixture(t, gittest.Tree{"d/a": gittest.File("1\n"), "b": gittest.File("b\n")})
	from := f.trackAll()
	f.remove("d")
	gittest.Create(t, f.root, gittest.Tree{"d": gittest.FileMode("closed\n", 0)})
	to := f.track().Hash
	f.remove("d")
	f.revertRange(from, to, cairn.RevertOptions{})
	gittest.AssertTree(t, f.root, gittest.Tree{"d/a": gittest.File("1\n"), "b": gittest.File("b\n")})
}

// tooLarge lowers the size limit of captures and returns the text of a file above it.
func (f *fixture) tooLarge() string {
	f.opt.MaxFileSize = 64 << 10
	return strings.Repeat("large\n", int(f.opt.MaxFileSize)/6+1)
}

// A file that grows beyond the size limit is in one capture only. A revert cannot take
// the change back, and says so.
func TestV06_RevertListsWhatNoCaptureHolds(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("b\n")})
	large := f.tooLarge()
	from := f.trackAll()
	f.write("a", large)
	f.write("new", large)
	f.write("b", "c\n")
	to := f.track().Checkpoint
	res := f.revertRange(from, to, cairn.RevertOptions{})
	if got := keptPaths(res.Kept); !slices.Equal(got, []string{"a", "new"}) {
		t.Errorf("kept %v", res.Kept)
	}
	if f.read("b") != "b\n" || f.read("a") != large || f.read("new") != large {
		t.Error("the revert changed the wrong files")
	}
}

// The restore changes the bits of a directory alone. Its undo does not bring back an
// ignored file of that directory, which the user has removed since.
func TestV06_UndoOfADirectorysBitsLeavesItsFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"d/a": gittest.File("a\n"), "d/x.o": gittest.File("o\n")})
	hash := f.trackAll()
	f.chmodAll([]string{"d"}, 0o700)
	f.write("d/y.o", "new\n")
	f.track()
	f.write(".gitignore", "*.o\n")
	f.restore(hash, "d")
	f.remove("d/y.o")
	f.remove("d/x.o")
	if _, err := f.repo().Undo(f.Context(), cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	f.assertPerm("after the undo", []string{"d"}, 0o700)
	for _, path := range []string{"d/x.o", "d/y.o"} {
		if f.exists(path) {
			t.Errorf("the undo made %s", path)
		}
	}
}

// The undo makes a directory for a file. The file has been moved away since, so the redo
// takes the empty directory.
func TestV06_RedoTakesTheDirectoryThatTheUndoMade(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"b": gittest.File("b\n")})
	hash := f.trackAll()
	f.write("d/a", "a\n")
	f.restore(hash)
	if _, err := f.repo().Undo(f.Context(), cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(f.path("d/a"), f.path("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.repo().Redo(f.Context(), cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("a\n"), "b": gittest.File("b\n")})
}

// A file is new that lies below a directory that was empty, and so is the directory
// between, even where rules would have ignored it.
func TestV06_NewDirectoryInAnEmptyOneGoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*.o\n"), "empty": gittest.Dir()})
	hash := f.trackAll()
	f.write(".gitignore", "")
	f.write("empty/y.o/a", "a\n")
	f.restore(hash)
	gittest.AssertTree(t, f.root, gittest.Tree{".gitignore": gittest.File("*.o\n"), "empty": gittest.Dir()})
}

// A file that was captured once is looked at in every scan, also where it is too large by
// now, rules ignore it, and its directory holds nothing else.
func TestV06_EveryScanFindsAHeldFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"d/e/x": gittest.File("x\n"), "d/e/y": gittest.File("y\n")})
	large := f.tooLarge()
	f.trackAll()
	f.write(".gitignore", "*\n")
	f.write("d/e/x", large)
	f.remove("d/e/y")
	for range 3 {
		skipped := f.track().Skipped
		if len(skipped) != 1 || skipped[0].Path != "d/e/x" {
			t.Fatalf("skipped %v", skipped)
		}
	}
}

// Only the bits of a directory differ. What stands in its place now is listed, captured
// or not.
func TestV06_RevertListsWhatStandsInADirectorysPlace(t *testing.T) {
	t.Parallel()
	for _, captured := range []bool{true, false} {
		f := newFixture(t, gittest.Tree{"d/a": gittest.File("a\n")})
		text := f.tooLarge()
		if captured {
			text = "mine\n"
		}
		from := f.track().Checkpoint
		f.chmodAll([]string{"d"}, 0o700)
		to := f.track().Checkpoint
		f.remove("d")
		f.write("d", text)
		res := f.revertRange(from, to, cairn.RevertOptions{})
		if len(res.Conflicts) != 1 || res.Conflicts[0].Path != "d" || f.read("d") != text {
			t.Errorf("%d bytes: %+v", len(text), res)
		}
	}
}

// A patch names a file that was made in a directory which cannot be read any more. The file
// stays and is listed.
func TestV06_RevertListsWhatCannotBeSeen(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Parallel()
		rerunAsUser(t)
		return
	}
	f := newFixture(t, gittest.Tree{"d/a": gittest.File("a\n"), "b": gittest.File("b\n")})
	hash := f.trackAll()
	f.write("d/new", "new\n")
	t.Cleanup(func() { f.chmodAll([]string{"d"}, 0o755) })
	for _, perm := range []os.FileMode{0, 0o100, 0o400} {
		f.chmodAll([]string{"d"}, perm)
		res, err := f.repo().RevertPatches(f.Context(), []cairn.Patch{{Hash: hash, Files: []string{"d/new"}}}, cairn.RevertPatchesOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := keptPaths(res.Kept); !slices.Equal(got, []string{"d/new"}) {
			t.Errorf("%o: kept %v", perm, res.Kept)
		}
	}
}
