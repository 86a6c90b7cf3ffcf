package cairn_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// The rows of the failure table that concern loss on restore and revert.

func TestR08_Rename(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("content")})
	before := f.trackAll()
	if err := os.Rename(f.path("a"), f.path("z")); err != nil {
		t.Fatal(err)
	}
	files := f.patch(before)
	if !slices.Equal(files, []string{"a", "z"}) {
		t.Errorf("patch %q", files)
	}
	f.revert(cairn.Patch{Hash: before, Files: files})
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("content")})
}

func TestR24_ChangesOfAnyKind(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{"del": gittest.File("d"), "mv": gittest.File("m"), "edit": gittest.File("e"), "dir/x": gittest.File("x"), "run": gittest.Exec("r")}
	f := newFixture(t, tree)
	before := f.trackAll()
	f.remove("del")
	f.remove("dir")
	os.Rename(f.path("mv"), f.path("moved"))
	f.write("edit", "E")
	f.write("made/by/shell", "s")
	os.Chmod(f.path("run"), 0o644)
	f.restoreAll(before)
	gittest.AssertTree(t, f.root, tree)
}

func TestR29_NonASCIINamesTogether(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{"é1": gittest.File("1"), "é2": gittest.File("2"), "日本/語": gittest.File("3")}
	f := newFixture(t, tree)
	before := f.trackAll()
	for name := range tree {
		f.write(name, "changed")
	}
	f.revert(cairn.Patch{Hash: before, Files: f.patch(before)})
	gittest.AssertTree(t, f.root, tree)
}

func TestR30_StoreGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	before := f.trackAll()
	f.write("new", "n")
	patch := cairn.Patch{Hash: before, Files: []string{f.path("a"), f.path("new")}}
	r := f.repo()
	if err := os.RemoveAll(f.data); err != nil {
		t.Fatal(err)
	}
	if _, err := r.RevertPatches(background, []cairn.Patch{patch}, cairn.RevertPatchesOptions{}); err == nil {
		t.Error("a revert without a store succeeded")
	}
	if _, err := f.repo().RevertPatches(background, []cairn.Patch{patch}, cairn.RevertPatchesOptions{}); err == nil {
		t.Error("a revert to a hash that the new store lacks succeeded")
	} else {
		assertError(t, err, cairn.ErrNotFound)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("a"), "new": gittest.File("n")})
}

func TestR30_ObjectsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a"), "b": gittest.File("b")})
	before := f.track()
	f.write("a", "changed a")
	f.write("b", "changed b")
	packs, err := filepath.Glob(filepath.Join(f.repo().StoreDir(), "objects/pack/*"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	for _, pack := range packs {
		if err := os.Remove(pack); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.repo().Restore(background, before.Hash, cairn.RestoreOptions{}); err == nil {
		t.Error("restore from nothing succeeded")
	}
	if f.read("a") != "changed a" || f.read("b") != "changed b" {
		t.Error("files changed")
	}
	// And the stat cache does not hand out ids of blobs that are gone.
	again := f.trackAll()
	if got := readAt(t, f, again, "a"); got != "changed a" {
		t.Errorf("a: %q", got)
	}
}

func TestR33_WhatIsOverwrittenIsSaved(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("one")})
	before := f.trackAll()
	f.write("a", "the agent's")
	f.trackAll()
	f.write("a", "the user's, never tracked")
	f.restoreAll(before)
	assertSaved(t, f, "a", "the user's, never tracked")
}

// assertSaved looks for contents among the states before operations.
func assertSaved(t *testing.T, f *fixture, path, want string) {
	t.Helper()
	r := f.repo()
	for op, err := range r.Operations(background) {
		if err != nil {
			t.Fatal(err)
		}
		if ok, _ := r.Exists(background, op.Before, path); ok && readAt(t, f, op.Before, path) == want {
			return
		}
	}
	t.Errorf("%s: %q is in no state before an operation", path, want)
}

func TestR35_R38_RestoreIsExactBothWays(t *testing.T) {
	t.Parallel()
	first := gittest.Tree{"a": gittest.File("a"), "dir/x": gittest.File("x"), "e": gittest.Dir()}
	f := newFixture(t, first)
	one := f.track().Checkpoint
	f.remove("a")
	f.remove("dir")
	f.write("b/c/d", "new")
	os.Remove(f.path("e"))
	two := f.track().Checkpoint
	second := f.manifest()
	f.restoreAll(one)
	gittest.AssertTree(t, f.root, first)
	f.restoreAll(two)
	gittest.AssertEqual(t, "after going forward again", second, f.manifest())
}

func TestRestoreOverlayKeepsNewFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a"), "d/x": gittest.File("x")})
	before := f.trackAll()
	f.write("new", "n")
	f.write("fresh/dir/file", "n")
	f.write("a", "changed")
	f.remove("d")
	f.write("d", "in the way")
	res, err := f.repo().Restore(background, before, cairn.RestoreOptions{KeepNew: true})
	if err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{
		"a": gittest.File("a"), "d/x": gittest.File("x"), "new": gittest.File("n"), "fresh/dir/file": gittest.File("n"),
	})
}

func TestR39_OnlyWhatDiffersIsWritten(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"same": gittest.File("s"), "dir/same": gittest.File("s"), "differs": gittest.File("d"), "link": gittest.Link("x")})
	old := time.Now().Add(-48 * time.Hour)
	for _, name := range []string{"same", "dir/same", "differs"} {
		os.Chtimes(f.path(name), old, old)
	}
	before := f.trackAll()
	want := f.manifest(gittest.WantTimes)
	f.write("differs", "D")
	started := time.Now().Add(-time.Second)
	f.restoreAll(before)
	got := f.manifest(gittest.WantTimes)
	if mtime := time.Unix(0, got["differs"].MTime); mtime.Before(started) {
		t.Errorf("the rewritten file has the time %v, so build tools will not notice", mtime)
	}
	delete(want, "differs")
	delete(got, "differs")
	gittest.AssertEqual(t, "what did not differ", want, got)
}

func TestR40_IgnoredFilesStay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("out/\n*.o\n"), "a.c": gittest.File("a"), "a.o": gittest.File("o"), "out/big": gittest.File("b")})
	before := f.trackAll()
	f.write("a.c", "changed")
	f.write("b.o", "o2")
	f.write("out/more", "m")
	f.write("sub/c.o", "only ignored things in here")
	f.restoreAll(before)
	if f.read("a.c") != "a" || !f.exists("a.o") || !f.exists("b.o") || !f.exists("out/big") || !f.exists("out/more") || !f.exists("sub/c.o") {
		t.Errorf("left: %v", f.manifest())
	}
}

func TestR41_RulesOfBothEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("data/\n"), "data/precious": gittest.File("p"), "a": gittest.File("a")})
	before := f.trackAll()
	f.write(".gitignore", "nothing\n")
	f.write("a", "changed")
	f.trackAll() // data/precious is captured now
	res := f.restore(before)
	if !f.exists("data/precious") {
		t.Fatal("a file that was ignored at the target is gone")
	}
	if len(res.Kept) != 1 || res.Kept[0].Path != "data/precious" {
		t.Errorf("kept %v", res.Kept)
	}
	if got := f.patch(before); len(got) != 0 {
		t.Errorf("back at the checkpoint, yet %q differs", got)
	}
	f.write("late.log", "l")
	f.trackAll()
	f.write(".gitignore", "*.log\n")
	res = f.restore(before)
	if !f.exists("late.log") {
		t.Errorf("a file that is ignored now is gone: %+v", res)
	}
}

func TestR49_FirstPatchWins(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("0"), "b": gittest.File("0")})
	var patches []cairn.Patch
	for _, step := range []string{"1", "2", "3"} {
		before := f.trackAll()
		f.write("a", step)
		if step != "1" {
			f.write("b", step)
		}
		f.write("new"+step, step)
		p, err := f.repo().Patch(background, before, "")
		if err != nil {
			t.Fatal(err)
		}
		patches = append(patches, p)
	}
	f.write("bystander", "stays")
	f.revert(patches...)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("0"), "b": gittest.File("0"), "bystander": gittest.File("stays")})
}

func TestR50_NothingChangedNothingWritten(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	before := f.trackAll()
	want := f.manifest(gittest.WantTimes)
	for _, res := range []*cairn.Result{f.restore(before), f.revert(), f.revert(cairn.Patch{Hash: before})} {
		if res.Operation != "" || len(res.Restored)+len(res.Deleted) != 0 || !res.Complete() {
			t.Errorf("%+v", res)
		}
	}
	gittest.AssertEqual(t, "untouched", want, f.manifest(gittest.WantTimes))
}

func TestR57_AgentCommitsInsideTheStep(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("one")})
	o.Init(f.root)
	o.Commit(f.root, "first")
	before := f.trackAll()
	f.write("a", "two")
	f.write("b", "new")
	head := o.Commit(f.root, "the agent's")
	f.restoreAll(before)
	if got := strings.TrimSpace(o.In(f.root, "rev-parse", "HEAD")); got != head {
		t.Errorf("HEAD moved to %s", got)
	}
	if f.read("a") != "one" || f.exists("b") {
		t.Error("files are not back")
	}
}

func TestR115_AnswersSayWhatWasDone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"mod": gittest.File("1"), "gone": gittest.File("2"), "perm": gittest.FileMode("3", 0o600)})
	before := f.trackAll()
	f.write("mod", "11")
	f.remove("gone")
	f.write("new", "n")
	os.Chmod(f.path("perm"), 0o644)
	plan, err := f.repo().Restore(background, before, cairn.RestoreOptions{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if f.read("mod") != "11" || f.exists("gone") {
		t.Fatal("a dry run did something")
	}
	done := f.restore(before)
	for _, res := range []*cairn.Result{plan, done} {
		if !slices.Equal(res.Restored, []string{"gone", "mod", "perm"}) || !slices.Equal(res.Deleted, []string{"new"}) || !res.Complete() {
			t.Errorf("%+v", res)
		}
	}
	if plan.Operation != "" || done.Operation == "" || len(plan.Plan) != 4 {
		t.Errorf("plan %+v, done %+v", plan, done)
	}
}

func TestRestorePaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a/x": gittest.File("1"), "a/y": gittest.File("1"), "a.b": gittest.File("1"), "b": gittest.File("1")})
	before := f.trackAll()
	for _, name := range []string{"a/x", "a/y", "a.b", "b", "a/new", "new"} {
		f.write(name, "2")
	}
	res := f.restore(before, "a", f.path("b"))
	if !slices.Equal(res.Restored, []string{"a/x", "a/y", "b"}) || !slices.Equal(res.Deleted, []string{"a/new"}) {
		t.Errorf("%+v", res)
	}
	if f.read("a.b") != "2" || f.read("new") != "2" {
		t.Error("paths beside the scope were touched")
	}
	_, err := f.repo().Restore(background, before, cairn.RestoreOptions{Paths: []string{"typo"}})
	assertError(t, err, cairn.ErrNotFound)
}

// TestRevertPaths: a range knows the paths of its two ends and those on disk, as a restore does.
func TestRevertPaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "b": gittest.File("1"), "gone": gittest.File("1"), "big": gittest.File("too large")})
	f.opt.MaxFileSize = 4
	in := cairn.Range{From: f.track().Hash}
	f.write("a", "2")
	f.remove("gone")
	f.remove("big")
	in.To = f.trackAll()
	f.write("new", "1")
	for path, want := range map[string]error{"typo": cairn.ErrNotFound, "a": nil, "b": nil, "gone": nil, "big": nil, "new": nil} {
		_, err := f.repo().Revert(background, in, cairn.RevertOptions{Paths: []string{path}, DryRun: true})
		assertError(t, err, want)
		if path == "big" {
			_, err = f.repo().Restore(background, in.From, cairn.RestoreOptions{Paths: []string{path}, DryRun: true})
			assertError(t, err, want)
		}
	}
}

func TestReadOnlyDirectories(t *testing.T) {
	if os.Geteuid() == 0 {
		rerunAsUser(t)
		return
	}
	tree := gittest.Tree{"ro/a": gittest.File("a"), "ro/b": gittest.File("b"), "ro": gittest.DirMode(0o555), "made-ro": gittest.DirMode(0o500), "made-ro/x": gittest.File("x")}
	f := newFixture(t, tree)
	before := f.trackAll()
	os.Chmod(f.path("ro"), 0o755)
	f.write("ro/a", "changed")
	f.remove("ro/b")
	os.Chmod(f.path("ro"), 0o555)
	os.Chmod(f.path("made-ro"), 0o700)
	f.remove("made-ro")
	res := f.restore(before)
	if !res.Complete() || slices.Contains(res.Restored, "ro") {
		t.Errorf("%+v", res)
	}
	gittest.AssertTree(t, f.root, tree)
	os.Chmod(f.path("ro"), 0o755)
	os.Chmod(f.path("made-ro"), 0o755)
}
