package cairn_test

import (
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// asPlanned restores by the plan of a dry run and fails if something else is done.
func (f *fixture) asPlanned(hash string) *cairn.Result {
	f.Helper()
	r := f.repo()
	plan, err := r.Restore(f.Context(), hash, cairn.RestoreOptions{DryRun: true})
	if err != nil {
		f.Fatal(err)
	}
	res, err := r.Restore(f.Context(), hash, cairn.RestoreOptions{Plan: plan.PlanID})
	if err != nil {
		f.Fatal(err)
	}
	if !slices.Equal(plan.Restored, res.Restored) || !slices.Equal(plan.Deleted, res.Deleted) ||
		!slices.Equal(plan.Kept, res.Kept) || !slices.Equal(plan.Conflicts, res.Conflicts) {
		f.Errorf("planned %+v\ndone %+v", plan, res)
	}
	return res
}

// TestV06_PlanSparesDirectoriesThatStay: a new directory holds something that has to
// stay, so the plan does not name the directory.
func TestV06_PlanSparesDirectoriesThatStay(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no named pipes")
	}
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	hash := f.trackAll()
	gittest.Create(t, f.root, gittest.Tree{"d/file": gittest.File("new\n"), "d/pipe": gittest.FIFO()})
	res := f.asPlanned(hash)
	if !slices.Equal(res.Deleted, []string{"d/file"}) || len(res.Kept) != 1 || res.Kept[0].Path != "d/pipe" {
		t.Errorf("%+v", res)
	}
}

// TestV06_PlanForeseesWhatCannotBeSaved: a file that cannot be read is a conflict of
// the plan, not only of carrying it out.
func TestV06_PlanForeseesWhatCannotBeSaved(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Parallel()
		rerunAsUser(t)
		return
	}
	f := newFixture(t, gittest.Tree{"changed": gittest.File("a\n")})
	hash := f.trackAll()
	f.write("changed", "b\n")
	gittest.Create(t, f.root, gittest.Tree{"large": gittest.FileMode(string(make([]byte, 2000)), 0o200)})
	if err := os.Chmod(f.path("changed"), 0); err != nil {
		t.Fatal(err)
	}
	f.opt.MaxFileSize = 1000
	res := f.asPlanned(hash)
	if len(res.Conflicts) != 2 || res.Conflicts[0].Path != "changed" || res.Conflicts[1].Path != "large" {
		t.Errorf("%+v", res)
	}
}

// TestV06_KeepNewInAnEmptyDirectory: a file that was made in a directory which was
// empty is new, and stands in nothing's way.
func TestV06_KeepNewInAnEmptyDirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"d": gittest.Dir(), "a": gittest.File("1\n")})
	hash := f.trackAll()
	f.write("d/new", "n\n")
	f.write("a", "2\n")
	if _, err := f.repo().Restore(f.Context(), hash, cairn.RestoreOptions{KeepNew: true}); err != nil {
		t.Fatal(err)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{"d/new": gittest.File("n\n"), "a": gittest.File("1\n")})
}

// TestV06_UndoLeavesLaterFilesInTheWay: a file that has since taken the place of a directory is
// another writer's work and stays, although a path below it is to come back.
func TestV06_UndoLeavesLaterFilesInTheWay(t *testing.T) {
	t.Parallel()
	for _, want := range []gittest.Tree{{"d/x": gittest.File("x\n")}, {"d/x": gittest.Dir()}} {
		f := newFixture(t, gittest.Tree{"d/y": gittest.File("y\n")})
		hash := f.trackAll()
		gittest.Create(t, f.root, want)
		f.restoreAll(hash)
		f.remove("d")
		f.write("d", "later\n")
		res := f.undo(cairn.RevertOptions{})
		if len(res.Conflicts) != 1 || res.Conflicts[0].Path != "d/x" {
			t.Errorf("%+v", res)
		}
		gittest.AssertTree(t, f.root, gittest.Tree{"d": gittest.File("later\n")})
	}
}

// TestV06_UndoLeavesLaterDirectories: an empty directory has taken the place of a file. It is kept
// and not removed.
func TestV06_UndoLeavesLaterDirectories(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	hash := f.trackAll()
	f.remove("a")
	f.restoreAll(hash)
	f.remove("a")
	gittest.Create(t, f.root, gittest.Tree{"a": gittest.Dir()})
	for _, policy := range []cairn.Policy{cairn.Keep, cairn.Merge} {
		f.undo(cairn.RevertOptions{OnConflict: policy, DryRun: policy == cairn.Keep})
		gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.Dir()})
	}
}

// TestV06_EmptyDirectoriesThatStayAreListed: a directory that the target's rules ignore
// may have been there, so it stays, and is listed.
func TestV06_EmptyDirectoriesThatStayAreListed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("d/\n")})
	hash := f.trackAll()
	f.remove(".gitignore")
	gittest.Create(t, f.root, gittest.Tree{"d": gittest.Dir()})
	if res := f.restore(hash); len(res.Kept) != 1 || res.Kept[0].Path != "d" {
		t.Errorf("%+v", res)
	}
}

// TestV06_RevertLeavesBitsOfOtherFiles: a range makes other bits the most common, which
// makes exceptions of files that it does not concern.
func TestV06_RevertLeavesBitsOfOtherFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.FileMode("a\n", 0o644), "b": gittest.FileMode("b\n", 0o600)})
	from := f.track().Checkpoint
	gittest.Create(t, f.root, gittest.Tree{"c": gittest.FileMode("c\n", 0o600), "d": gittest.FileMode("d\n", 0o600)})
	to := f.track().Checkpoint
	f.remove("a")
	f.remove("b")
	gittest.Create(t, f.root, gittest.Tree{"b": gittest.FileMode("later\n", 0o640)})
	res, err := f.repo().Revert(f.Context(), cairn.Range{From: from, To: to}, cairn.RevertOptions{OnConflict: cairn.Overwrite})
	if err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{"b": gittest.FileMode("later\n", 0o640)})
}
