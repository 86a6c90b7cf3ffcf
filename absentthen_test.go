package cairn_test

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestRestoreListsWhatCannotComeBack: a file that was there and not captured, and that has gone since,
// does not come back. A restore lists it.
func TestRestoreListsWhatCannotComeBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a"), "d/data.bin": gittest.File(strings.Repeat("u", 3000))})
	f.opt.MaxFileSize = 2000
	before := f.track()
	if res := f.restore(before.Hash); len(res.Kept) != 0 {
		t.Errorf("the file is there, as it was: %+v", res.Kept)
	}
	f.remove("d/data.bin")
	f.write("a", "changed")
	res := f.restore(before.Hash)
	want := cairn.PathReason{Path: "d/data.bin", Reason: "gone, and not captured at the target: too large"}
	if len(res.Kept) != 1 || res.Kept[0] != want {
		t.Errorf("%+v, want %+v", res.Kept, want)
	}
	res, err := f.repo().Restore(background, before.Hash, cairn.RestoreOptions{Paths: []string{"a"}})
	if err != nil || len(res.Kept) != 0 {
		t.Errorf("a restore of another path: %+v, %v", res.Kept, err)
	}
	f.write(".gitignore", "*.bin\n")
	f.write("d/data.bin", "another one")
	if res := f.restore(before.Hash); len(res.Kept) != 0 || f.read("d/data.bin") != "another one" {
		t.Errorf("an ignored file is there: %+v", res)
	}
}

// TestDirectoryInPlaceOfAnUncapturedFile: a directory in the place of a file that was not captured is not that file. A
// restore that takes away what the directory holds lists the file, and so does a way back over the step that made it.
func TestDirectoryInPlaceOfAnUncapturedFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a"), "data.bin": gittest.File(strings.Repeat("u", 3000))})
	f.opt.MaxFileSize = 2000
	before := f.track()
	f.remove("data.bin")
	f.write("data.bin/x/y", "in a directory")
	after := f.track()
	want := cairn.PathReason{Path: "data.bin", Reason: "gone, and not captured at the target: too large"}
	taken, err := f.repo().Revert(background, cairn.Range{From: before.Checkpoint, To: after.Checkpoint}, cairn.RevertOptions{DryRun: true})
	if err != nil || len(taken.Kept) != 1 || taken.Kept[0] != want {
		t.Errorf("a way back: %+v, %v, want %+v", taken, err, want)
	}
	res := f.restore(before.Hash)
	if len(res.Kept) != 1 || res.Kept[0] != want || len(res.Deleted) == 0 {
		t.Errorf("%+v, want %+v", res, want)
	}
	f.write("data.bin/x/y", "again")
	kept, err := f.repo().Restore(background, before.Hash, cairn.RestoreOptions{KeepNew: true})
	if err != nil || len(kept.Kept) != 1 || kept.Kept[0] != want || f.read("data.bin/x/y") != "again" {
		t.Errorf("with what is new: %+v, %v, want %+v", kept, err, want)
	}
}

// TestRestoreListsWhatARepairGaveUp: a repair has taken a lost file out of a checkpoint.
func TestRestoreListsWhatARepairGaveUp(t *testing.T) {
	t.Parallel()
	w := newLostWorld(t)
	w.unlike()
	w.lose(w.days[1] + ":a")
	w.check(cairn.CheckOptions{Fix: true})
	w.remove("a")
	w.remove("d/x")
	res := w.restore(w.days[1])
	if len(res.Kept) != 1 || res.Kept[0].Path != "a" || !strings.HasSuffix(res.Kept[0].Reason, ": lost") {
		t.Errorf("%+v", res)
	}
}

// TestTakingBackListsWhatCannotComeBack: a step has removed a file that no capture held.
func TestTakingBackListsWhatCannotComeBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a"), "data.bin": gittest.File(strings.Repeat("u", 3000))})
	f.opt.MaxFileSize = 2000
	before := f.track()
	f.remove("data.bin")
	f.write("a", "changed")
	after := f.track()
	f.write("later.bin", strings.Repeat("l", 3000))
	later := f.track()
	for _, c := range []struct{ from, to, kept string }{
		{before.Checkpoint, after.Checkpoint, "data.bin"}, {after.Checkpoint, later.Checkpoint, "later.bin"}, {before.Checkpoint, before.Checkpoint, ""},
	} {
		res, err := f.repo().Revert(background, cairn.Range{From: c.from, To: c.to}, cairn.RevertOptions{DryRun: true})
		if err != nil || len(res.Kept) > 1 || (c.kept == "") != (len(res.Kept) == 0) || c.kept != "" && string(res.Kept[0].Path) != c.kept {
			t.Errorf("%+v, %v, want %q", res, err, c.kept)
		}
	}
	f.write("data.bin", "small")
	if res, err := f.repo().Revert(background, cairn.Range{From: before.Checkpoint, To: after.Checkpoint}, cairn.RevertOptions{}); err != nil || len(res.Kept) > 0 {
		t.Errorf("a file of that name is there: %+v, %v", res, err)
	}
}

// TestUndoOfAnIgnoredFileInPlaceOfAFile: a restore has put a directory in the place of a file, and rules
// keep what it made in it out of captures. An undo removes it and brings back the file; a redo does the
// reverse.
func TestUndoOfAnIgnoredFileInPlaceOfAFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a/b": gittest.File("ignored later")})
	gittest.NewOracle(t).In(f.root, "init", "-q")
	before := f.trackAll()
	f.remove("a")
	f.write("a", "a file")
	f.trackAll()
	f.write(".git/info/exclude", "b\n")
	f.restoreAll(before)
	res, err := f.repo().Undo(background, cairn.RevertOptions{})
	if err != nil || !res.Complete() || f.read("a") != "a file" {
		t.Fatalf("undo: %+v, %v", res, err)
	}
	if res, err = f.repo().Redo(background, cairn.RevertOptions{}); err != nil || !res.Complete() || f.read("a/b") != "ignored later" {
		t.Fatalf("redo: %+v, %v", res, err)
	}
	f.write("a/mine", "of the user")
	f.write(".git/info/exclude", "b\nmine\n")
	if res, err = f.repo().Undo(background, cairn.RevertOptions{}); err != nil || res.Complete() || f.read("a/b") != "ignored later" || f.read("a/mine") != "of the user" {
		t.Fatalf("undo beside a file of the user: %+v, %v", res, err)
	}
}
