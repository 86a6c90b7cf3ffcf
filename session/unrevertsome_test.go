package session_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// revertedHunks are the names of the hunks of a file that the reverts of s changed.
func (f *fixture) revertedHunks(file string) (names []string) {
	f.Helper()
	own, err := f.RevertedChanges(background, "s")
	if err != nil {
		f.Fatal(err)
	}
	for d, err := range own.FileDiffs(background, own.List, cairn.DiffOptions{Hunks: true}) {
		if err != nil {
			f.Fatal(err)
		}
		for i := range d.Hunks {
			if string(d.File) == file {
				names = append(names, d.Hunks[i].ID)
			}
		}
	}
	return names
}

func (f *fixture) unrevertSome(opt cairn.RevertOptions) *cairn.Result {
	f.Helper()
	res, err := f.UnrevertSome(background, "s", opt)
	if err != nil {
		f.Fatal(err)
	}
	return res
}

// Some files and hunks of a revert come back, by a plan. The boundary stays, and Unrevert brings back
// the rest.
func TestSomeOfARevertComesBack(t *testing.T) {
	t.Parallel()
	f, edits := fourSteps(t)
	whole := gittest.Manifest(t, f.root)
	f.revert("s", session.Target{Message: "m1"})
	reverted := gittest.Manifest(t, f.root)

	dry := f.unrevertSome(cairn.RevertOptions{Paths: []string{"dir2", "dir3"}, DryRun: true})
	gittest.AssertEqual(t, "dry run", reverted, gittest.Manifest(t, f.root))
	res := f.unrevertSome(cairn.RevertOptions{Paths: []string{"dir2", "dir3"}, Plan: dry.PlanID})
	if f.read("dir2/new") != "2\n" || f.read("dir3/new") != "3\n" || !res.Complete() || res.Operation == "" {
		t.Errorf("%+v", res)
	}
	if _, err := os.Lstat(filepath.Join(f.root, "dir4")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("dir4: %v", err)
	}
	names := f.revertedHunks("a")
	if len(names) != 4 {
		t.Fatalf("hunks %q", names)
	}
	f.unrevertSome(cairn.RevertOptions{Hunks: names[1:3]})
	want := maps.Clone(edits)
	delete(want, 3)
	delete(want, 21)
	if got := f.read("a"); got != lines(26, want) {
		t.Errorf("a %s", got)
	}
	if s := f.get("s"); s.Revert == nil || s.Revert.Message != "m1" {
		t.Errorf("the boundary has moved: %+v", s.Revert)
	}
	if _, res, err := f.Unrevert(background, "s", session.MoveOptions{}); err != nil || !res.Complete() {
		t.Errorf("the rest: %+v, %v", res, err)
	}
	gittest.AssertEqual(t, "all of it", whole, gittest.Manifest(t, f.root))
	if _, err := f.UnrevertSome(background, "s", cairn.RevertOptions{Paths: []string{"a"}}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("without a revert: %v", err)
	}
	gittest.NewOracle(t).Fsck(f.repo.StoreDir())
}

// With several reverts in effect only their own changes come back: what the user wrote between and
// after them stays, and overlaps are a conflict.
func TestSomeOfSeveralRevertsComesBack(t *testing.T) {
	t.Parallel()
	f, edits := fourSteps(t)
	f.revert("s", session.Target{Message: "m2"})
	mine := maps.Clone(edits)
	delete(mine, 15)
	delete(mine, 21)
	mine[1] = "between"
	f.write("a", lines(26, mine))
	f.revert("s", session.Target{Message: "m1"})
	mine[1], mine[15] = "after", "over the revert"
	delete(mine, 3)
	delete(mine, 9)
	f.write("a", lines(26, mine))

	names := f.revertedHunks("a")
	if len(names) != 4 {
		t.Fatalf("hunks %q", names)
	}
	before := gittest.Manifest(t, f.root)
	f.unrevertSome(cairn.RevertOptions{Hunks: []string{names[0], names[3]}})
	mine[3], mine[21] = edits[3], edits[21]
	if got := f.read("a"); got != lines(26, mine) {
		t.Errorf("a %s", got)
	}
	res := f.unrevertSome(cairn.RevertOptions{Hunks: names[2:3]})
	if len(res.Conflicts) != 1 || f.read("a") != lines(26, mine) {
		t.Errorf("%+v: %s", res, f.read("a"))
	}
	f.thereAndBack(before)
}
