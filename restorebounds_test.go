package cairn_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestR42_PresentButNotCaptured(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("u", 3000)
	f := newFixture(t, gittest.Tree{"data.bin": gittest.File(big), "a": gittest.File("a")})
	f.opt.MaxFileSize = 2000
	before := f.track()
	f.write("data.bin", "small")
	if got := f.patch(before.Hash); len(got) != 0 {
		t.Errorf("patch %q", got)
	}
	res := f.restore(before.Hash)
	if f.read("data.bin") != "small" {
		t.Errorf("%+v", res)
	}
	// Paths that were created since are saved and deleted, whatever their size.
	f.write("agent.bin", strings.Repeat("g", 5000))
	res = f.restore(before.Hash)
	if f.exists("agent.bin") || !slices.Contains(res.Deleted, "agent.bin") {
		t.Errorf("%+v", res)
	}
	assertSaved(t, f, "agent.bin", strings.Repeat("g", 5000))
}

func TestOversizedAndIgnoredFilesInTheWayAreSaved(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("small"), "d/x": gittest.File("x"), "s/y": gittest.File("y")})
	f.opt.MaxFileSize = 2000
	before := f.trackAll()
	f.write("a", strings.Repeat("L", 3000)) // now too large
	f.remove("d")
	f.remove("s")
	f.trackAllowingSkips()
	f.write(".gitignore", "d\ns\n")
	f.write("d", "ignored file in place of a directory")
	os.Symlink("/etc", f.path("s"))
	res, err := f.repo().Restore(background, before, cairn.RestoreOptions{Paths: []string{"a", "d", "s"}})
	if err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	if f.read("a") != "small" || f.read("d/x") != "x" || f.read("s/y") != "y" {
		t.Errorf("left: %v", f.manifest())
	}
	assertSaved(t, f, "a", strings.Repeat("L", 3000))
	assertSaved(t, f, "d", "ignored file in place of a directory")
	assertSaved(t, f, "s", "/etc")
}

func (f *fixture) trackAllowingSkips() { f.track() }

func TestDirectoryWithIgnoredFilesIsNotReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"out": gittest.File("a file once")})
	before := f.trackAll()
	f.remove("out")
	f.write(".gitignore", "*.o\n")
	f.write("out/keep.o", "ignored")
	f.write("out/tracked", "t")
	res := f.restore(before)
	if len(res.Conflicts) != 1 || res.Conflicts[0].Path != "out" {
		t.Errorf("%+v", res)
	}
	if f.read("out/keep.o") != "ignored" || f.read("out/tracked") != "t" {
		t.Error("the directory was taken apart although it cannot go")
	}
}

func TestR43_LinkReplacedByDirectory(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	gittest.Create(t, outside, gittest.Tree{"keep.txt": gittest.File("outside")})
	f := newFixture(t, gittest.Tree{"link": gittest.Link(outside)})
	before := f.trackAll()
	f.remove("link")
	f.write("link/keep.txt", "inside")
	files := f.patch(before)
	f.revert(cairn.Patch{Hash: before, Files: files})
	gittest.AssertTree(t, outside, gittest.Tree{"keep.txt": gittest.File("outside")})
	gittest.AssertTree(t, f.root, gittest.Tree{"link": gittest.Link(outside)})
}

func TestR44_DirectoryReplacedByLink(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a/b": gittest.File("a's"), "c/b": gittest.File("c's")})
	before := f.trackAll()
	f.write("a/b", "changed")
	f.trackAll()
	f.remove("a")
	if err := os.Symlink("c", f.path("a")); err != nil {
		t.Fatal(err)
	}
	f.restoreAll(before)
	gittest.AssertTree(t, f.root, gittest.Tree{"a/b": gittest.File("a's"), "c/b": gittest.File("c's")})
}

func TestR45_HardLinks(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	f := newFixture(t, gittest.Tree{"a": gittest.File("one")})
	if err := os.Link(f.path("a"), outside); err != nil {
		t.Skip("no hard links here:", err)
	}
	before := f.trackAll()
	if err := os.WriteFile(f.path("a"), []byte("two"), 0o644); err != nil { // both names change
		t.Fatal(err)
	}
	f.restoreAll(before)
	data, _ := os.ReadFile(outside)
	if f.read("a") != "one" || string(data) != "two" {
		t.Errorf("a is %q, its other name %q", f.read("a"), data)
	}
}

func TestR46_PathsOutsideAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	before := f.trackAll()
	victim := filepath.Join(filepath.Dir(f.root), "victim")
	os.WriteFile(victim, []byte("v"), 0o644)
	for _, path := range []string{"../victim", victim, "a/../../victim", "", ".", "/", "x\x00y"} {
		_, err := f.repo().RevertPatches(background, []cairn.Patch{{Hash: before, Files: []string{path}}}, cairn.RevertPatchesOptions{})
		assertError(t, err, cairn.ErrOutside)
	}
	f.write(".git/config", "c")
	f.write("sub/.GIT/config", "c")
	for _, path := range []string{".git/config", "sub/.GIT/config", ".git"} {
		if _, err := f.repo().RevertPatches(background, []cairn.Patch{{Hash: before, Files: []string{f.path(path)}}}, cairn.RevertPatchesOptions{}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	f.restore(before)
	if !f.exists(".git/config") || !f.exists("sub/.GIT/config") {
		t.Error("a repository's own files were removed")
	}
	if data, _ := os.ReadFile(victim); string(data) != "v" {
		t.Error("a file outside was touched")
	}
}

func TestR47_FileDirectoryLinkSwaps(t *testing.T) {
	t.Parallel()
	kinds := map[string]gittest.Tree{
		"file": {"x": gittest.File("f")}, "exec": {"x": gittest.Exec("f")}, "link": {"x": gittest.Link("to")},
		"dir": {"x/in": gittest.File("i"), "x/deep/er": gittest.File("d")}, "empty": {"x": gittest.Dir()}, "absent": {"y": gittest.File("y")},
	}
	for from, a := range kinds {
		for to, b := range kinds {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, a)
				before := f.track().Checkpoint
				f.remove("x")
				f.remove("y")
				gittest.Create(t, f.root, b)
				after := f.track().Checkpoint
				f.restoreAll(before)
				gittest.AssertTree(t, f.root, a)
				f.restoreAll(after)
				gittest.AssertTree(t, f.root, b)
			})
		}
	}
}

func TestR56_R107_UsersRepositoryIsUntouched(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("a"), "dir/b": gittest.File("b")})
	o.Init(f.root)
	o.Commit(f.root, "first")
	f.write("staged", "s")
	o.In(f.root, "add", "staged")
	want := gittest.Manifest(t, f.path(".git"), gittest.WantTimes, gittest.WantDirTimes)
	before := f.trackAll()
	f.write("a", "changed")
	f.remove("dir")
	f.patch(before)
	f.restoreAll(before)
	f.revert(cairn.Patch{Hash: before, Files: []string{f.path("a")}})
	gittest.AssertEqual(t, ".git", want, gittest.Manifest(t, f.path(".git"), gittest.WantTimes, gittest.WantDirTimes))
}
