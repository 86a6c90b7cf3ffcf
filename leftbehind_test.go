package cairn_test

import (
	"os"
	"slices"
	"testing"

	cairn "github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// ignoredLater has a checkpoint in which y/build is captured, although the y/.gitignore
// beside it ignores it. On disk both are gone.
func ignoredLater(t *testing.T, more gittest.Tree) (f *fixture, both string) {
	tree := gittest.Tree{"a": gittest.File("1"), "y/build": gittest.File("b")}
	for path, node := range more {
		tree[path] = node
	}
	f = newFixture(t, tree)
	f.track()
	f.write("y/.gitignore", "build\n")
	both = f.track().Checkpoint
	f.remove("y/build")
	f.remove("y/.gitignore")
	f.remove("y")
	return f, both
}

func TestV02_UndoRemovesWhatTheOperationCreated(t *testing.T) {
	t.Parallel()
	for _, rules := range []string{"", "y\n", "build\n", "y/build\n"} {
		t.Run(rules, func(t *testing.T) {
			t.Parallel()
			f, both := ignoredLater(t, nil)
			f.write(".gitignore", rules)
			f.track()
			before := f.manifest()
			f.restore(both)
			after := f.manifest()
			if res := f.undo(cairn.RevertOptions{}); !res.Complete() {
				t.Errorf("undo: %+v", res)
			}
			f.same(before)
			if res := f.redo(); !res.Complete() {
				t.Errorf("redo: %+v", res)
			}
			f.same(after)
			f.undo(cairn.RevertOptions{})
			f.same(before)
		})
	}
}

func (f *fixture) same(want gittest.Listing) {
	f.Helper()
	gittest.AssertEqual(f, "the tree", want, f.manifest())
}

func (f *fixture) mkdir(rel string) {
	f.Helper()
	if err := os.MkdirAll(f.path(rel), 0o755); err != nil {
		f.Fatal(err)
	}
}

func TestV02_WhatWasTouchedSinceIsListed(t *testing.T) {
	t.Parallel()
	for _, policy := range []cairn.Policy{cairn.Merge, cairn.Keep, cairn.Overwrite} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			f, both := ignoredLater(t, nil)
			f.track()
			f.restore(both)
			f.write("y/build", "mine")
			res := f.undo(cairn.RevertOptions{OnConflict: policy})
			listed := slices.ContainsFunc(slices.Concat(res.Kept, res.Conflicts), func(p cairn.PathReason) bool { return p.Path == "y/build" })
			switch {
			case policy == cairn.Overwrite && f.exists("y/build"):
				t.Errorf("it stays: %+v", res)
			case policy != cairn.Overwrite && (f.read("y/build") != "mine" || !listed):
				t.Errorf("it is gone, or not listed: %+v", res)
			}
		})
	}
}

// A file that another program put beside it is neither touched nor in the way.
func TestV02_OthersFilesStay(t *testing.T) {
	t.Parallel()
	f, both := ignoredLater(t, nil)
	f.write(".gitignore", "y\n")
	f.track()
	f.restore(both)
	f.write("y/mine", "m")
	f.undo(cairn.RevertOptions{})
	if f.exists("y/build") || f.read("y/mine") != "m" {
		t.Error("the wrong file is gone")
	}
}

func TestV02_UnrevertRemovesWhatTheRevertCreated(t *testing.T) {
	t.Parallel()
	f, both := ignoredLater(t, nil)
	f.write(".gitignore", "y\n")
	gone := f.track().Checkpoint
	before := f.manifest()
	takeBack := func(tb operation.TakeBack) *operation.LineEvent {
		t.Helper()
		var event *operation.LineEvent
		err := access.Lines(f.repo()).Update(f.Context(), func(u *operation.LineUpdate) (err error) {
			back, err := u.TakeBack(f.Context(), "line", tb)
			if err == nil {
				event = back.Event
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return event
	}
	steps := []operation.UndoneStep{{Step: operation.Step{From: both, To: gone}}}
	reverted := takeBack(operation.TakeBack{Kind: "revert", Steps: steps})
	if f.read("y/build") != "b" {
		t.Fatal("the revert brings nothing back")
	}
	takeBack(operation.TakeBack{Kind: "unrevert", Snapshot: gone, Earlier: []*operation.LineEvent{reverted}})
	f.same(before)
}

func TestV05_WhatTheRangeDidNotTouchStays(t *testing.T) {
	t.Parallel()
	steps := []struct {
		name         string
		before, then func(f *fixture) // at A and at B
		later        string           // a file that is made after B
		gone, back   string           // paths that the revert removes and brings back
	}{
		{"empty at A", func(f *fixture) { f.mkdir("d") }, func(f *fixture) { f.remove("d") }, "d/new", "", "d"},
		{"empty at A, with a file at B", func(f *fixture) { f.mkdir("d") }, func(f *fixture) { f.write("d/x", "x") }, "d/new", "d/x", "d"},
		{"empty at B", func(f *fixture) {}, func(f *fixture) { f.mkdir("d") }, "d/new", "", ""},
		{"empty at B, deeper", func(f *fixture) {}, func(f *fixture) { f.mkdir("d/e") }, "d/e/new", "", ""},
		{"a file of that name at B", func(f *fixture) {}, func(f *fixture) { f.write("d", "x") }, "d/new", "", ""},
	}
	for _, c := range steps {
		for _, policy := range []cairn.Policy{cairn.Merge, cairn.Overwrite, cairn.Keep, cairn.Fail} {
			t.Run(c.name+"/"+string(policy), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
				c.before(f)
				from := f.track().Checkpoint
				c.then(f)
				f.write("a", "2")
				to := f.track().Checkpoint
				if c.later == "d/new" && c.name == "a file of that name at B" {
					f.remove("d")
				}
				f.write(c.later, "later")
				res, err := f.repo().Revert(f.Context(), cairn.Range{From: from, To: to}, cairn.RevertOptions{OnConflict: policy})
				if err != nil {
					t.Fatal(err)
				}
				if f.read("a") != "1" || f.read(c.later) != "later" || c.gone != "" && f.exists(c.gone) || c.back != "" && !f.exists(c.back) {
					t.Errorf("not as it should be: %+v", res)
				}
				for _, p := range slices.Concat(res.Kept, res.Conflicts) {
					t.Errorf("%s is listed: %s", p.Path, p.Reason)
				}
				if slices.Contains(res.Deleted, "d") {
					t.Errorf("a directory that stays is listed as deleted: %+v", res)
				}
			})
		}
	}
}

// TestV06_UndoLeavesADirectoryInItsFilesPlace: the operation made a file. An empty directory
// has taken its place since, and rules ignore that.
func TestV06_UndoLeavesADirectoryInItsFilesPlace(t *testing.T) {
	t.Parallel()
	for _, policy := range []cairn.Policy{cairn.Merge, cairn.Overwrite, cairn.Keep} {
		f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "x": gittest.File("x\n")})
		hash := f.trackAll()
		f.remove("x")
		f.restore(hash)
		f.remove("x")
		f.mkdir("x")
		f.write(".gitignore", "x\n")
		res := f.undo(cairn.RevertOptions{OnConflict: policy})
		if !f.exists("x") || res.Complete() {
			t.Errorf("%s: %+v", policy, res)
		}
	}
}

// A directory that an operation has made, that is ignored now and whose bits the user has changed is one conflict.
func TestV02_OneConflictForALeftDirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "y": gittest.Dir()})
	old := f.track().Checkpoint
	f.remove("y")
	f.write(".gitignore", "y/\n")
	f.track()
	f.restore(old, "y")
	if err := os.Chmod(f.path("y"), 0o700); err != nil {
		t.Fatal(err)
	}
	if res := f.undo(cairn.RevertOptions{}); len(res.Conflicts) != 1 || res.Conflicts[0].Path != "y" {
		t.Errorf("%+v", res)
	}
}
