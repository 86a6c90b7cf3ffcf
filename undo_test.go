package cairn_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func (f *fixture) undo(opt cairn.RevertOptions) *cairn.Result {
	f.Helper()
	res, err := f.repo().Undo(f.Context(), opt)
	if err != nil {
		f.Fatalf("undo: %v", err)
	}
	return res
}

func (f *fixture) redo() *cairn.Result {
	f.Helper()
	res, err := f.repo().Redo(f.Context(), cairn.RevertOptions{})
	if err != nil {
		f.Fatalf("redo: %v", err)
	}
	return res
}

// TestR52_SeveralLevels goes back through several operations and forward again,
// with a new process for each, and compares whole directories.
func TestR52_SeveralLevels(t *testing.T) {
	t.Parallel()
	f := newFixture(t, crashTree)
	f.opt.MaxFileSize = 2000
	var states []gittest.Listing
	first := f.track().Checkpoint
	crashEdits(f)
	f.write("never/tracked", "by anybody")
	states = append(states, f.manifest())
	f.restoreAll(first)
	states = append(states, f.manifest())
	f.write("a", "four\n")
	second := f.track().Checkpoint
	f.remove("dir")
	f.write("dir", "a file")
	states = append(states, f.manifest())
	f.restoreAll(second)
	states = append(states, f.manifest())

	// The edits between the two restores are not theirs: a keeps its fourth text.
	for round := range 3 {
		f.undo(cairn.RevertOptions{})
		gittest.AssertEqual(t, fmt.Sprintf("round %d: after undoing the second restore", round), states[2], f.manifest())
		res := f.undo(cairn.RevertOptions{})
		// Only the first time: the paths that were redone since are those of the first
		// undo.
		if conflicts := len(res.Conflicts) > 0; conflicts != (round == 0) {
			t.Errorf("round %d: a and dir were changed since the first restore: %+v", round, res)
		}
		if f.read("a") != "four\n" || f.read("dir") != "a file" || f.read("never/tracked") != "by anybody" || f.read("link") != "a file now" {
			t.Errorf("round %d: %v", round, f.manifest())
		}
		_, err := f.repo().Undo(background, cairn.RevertOptions{})
		assertError(t, err, cairn.ErrNotFound)
		f.redo()
		gittest.AssertEqual(t, fmt.Sprintf("round %d: after redoing the first restore", round), states[2], f.manifest())
		f.redo()
		gittest.AssertEqual(t, fmt.Sprintf("round %d: after redoing the second restore", round), states[3], f.manifest())
		_, err = f.repo().Redo(background, cairn.RevertOptions{})
		assertError(t, err, cairn.ErrNotFound)
	}
}

func TestR34_RedoTouchesOnlyWhatTheUndoTouched(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("one\n"), "o": gittest.File("one\n")})
	before := f.trackAll()
	f.write("a", "two\n")
	f.restoreAll(before)
	f.undo(cairn.RevertOptions{})
	f.write("o", "the user's\n")
	f.write("new", "the user's\n")
	f.redo()
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("one\n"), "o": gittest.File("the user's\n"), "new": gittest.File("the user's\n")})
}

func TestUndoBringsBackIgnoredAndOversizedFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"out": gittest.File("a file once\n"), "x": gittest.File("x")})
	f.opt.MaxFileSize = 2000
	before := f.trackAll()
	f.remove("out")
	f.write(".gitignore", "out\n")
	os.Symlink("/nowhere", f.path("out")) // ignored, so not captured
	f.write("big", strings.Repeat("b", 4000))
	f.write("x", strings.Repeat("x", 4000))
	want := f.manifest()
	f.restoreAll(before)
	gittest.AssertTree(t, f.root, gittest.Tree{"out": gittest.File("a file once\n"), "x": gittest.File("x")})
	f.undo(cairn.RevertOptions{})
	gittest.AssertEqual(t, "after the undo", want, f.manifest())
	f.redo()
	gittest.AssertTree(t, f.root, gittest.Tree{"out": gittest.File("a file once\n"), "x": gittest.File("x")})
}

func TestUndoAfterNewOperationForgetsRedo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	one := f.trackAll()
	f.write("a", "2")
	two := f.trackAll()
	f.restoreAll(one)
	f.undo(cairn.RevertOptions{})
	f.restoreAll(one)
	_, err := f.repo().Redo(background, cairn.RevertOptions{})
	assertError(t, err, cairn.ErrNotFound)
	f.undo(cairn.RevertOptions{})
	if f.read("a") != "2" {
		t.Error("undo of the newer restore")
	}
	_ = two
}

// lines makes a text of numbered lines with some of them replaced.
func lines(n int, edits map[int]string) string {
	var b strings.Builder
	for i := range n {
		if text, ok := edits[i]; ok {
			b.WriteString(text + "\n")
		} else {
			fmt.Fprintf(&b, "line %d\n", i)
		}
	}
	return b.String()
}

func TestR33_R51_LaterEditsAreMergedOrKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		"clean": gittest.File(lines(20, nil)), "overlap": gittest.File(lines(20, nil)), "untouched": gittest.File("u\n"),
		"binary": gittest.File("b\x00"), "removed": gittest.File("r\n"), "edited-then-gone": gittest.File("e\n"), "mode": gittest.Exec("m\n"),
	})
	from := f.trackAll()
	f.write("clean", lines(20, map[int]string{2: "the agent's"}))
	f.write("overlap", lines(20, map[int]string{2: "the agent's"}))
	f.write("binary", "B\x00")
	f.remove("removed")
	f.write("edited-then-gone", "E\n")
	f.write("made", "m\n")
	f.write("made-then-edited", "m\n")
	os.Chmod(f.path("mode"), 0o644)
	to := f.trackAll()
	f.write("clean", lines(20, map[int]string{2: "the agent's", 15: "the user's"}))
	f.write("overlap", lines(20, map[int]string{2: "the user's"}))
	f.write("binary", "U\x00")
	f.write("removed", "came back\n")
	f.remove("edited-then-gone")
	f.write("made-then-edited", "M\n")
	f.write("mode", "edited\n")
	f.write("untouched", "the user's\n")

	plan, err := f.repo().Revert(background, cairn.Range{From: from, To: to}, cairn.RevertOptions{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	res, err := f.repo().Revert(background, cairn.Range{From: from, To: to}, cairn.RevertOptions{Plan: plan.PlanID})
	if err != nil {
		t.Fatal(err)
	}
	var conflicts []string
	for _, c := range res.Conflicts {
		conflicts = append(conflicts, string(c.Path))
	}
	if want := []string{"binary", "edited-then-gone", "made-then-edited", "overlap", "removed"}; !slices.Equal(conflicts, want) {
		t.Errorf("conflicts %v, want %q", res.Conflicts, want)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{
		"clean": gittest.File(lines(20, map[int]string{15: "the user's"})), "overlap": gittest.File(lines(20, map[int]string{2: "the user's"})),
		"untouched": gittest.File("the user's\n"), "binary": gittest.File("U\x00"), "removed": gittest.File("came back\n"),
		"made-then-edited": gittest.File("M\n"), "mode": gittest.Exec("edited\n"),
	})
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	setUp := func(t *testing.T) (f *fixture, from, to string) {
		f = newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
		from = f.trackAll()
		f.write("a", "2\n")
		f.write("b", "2\n")
		to = f.trackAll()
		f.write("a", "the user's\n")
		return f, from, to
	}
	for policy, want := range map[cairn.Policy][2]string{
		cairn.Overwrite: {"1\n", "1\n"}, cairn.Keep: {"the user's\n", "1\n"}, cairn.Merge: {"the user's\n", "1\n"}, cairn.Fail: {"the user's\n", "2\n"},
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			f, from, to := setUp(t)
			_, err := f.repo().Revert(background, cairn.Range{From: from, To: to}, cairn.RevertOptions{OnConflict: policy})
			if policy == cairn.Fail {
				assertError(t, err, cairn.ErrConflict)
			} else if err != nil {
				t.Error(err)
			}
			if f.read("a") != want[0] || f.read("b") != want[1] {
				t.Errorf("a %q, b %q, want %q", f.read("a"), f.read("b"), want)
			}
			if policy == cairn.Overwrite {
				assertSaved(t, f, "a", "the user's\n")
			}
		})
	}
}

func TestRevertOneStepInTheMiddle(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines(30, nil))})
	var hashes []string
	edits := map[int]string{}
	hashes = append(hashes, f.trackAll())
	for _, n := range []int{3, 14, 26} {
		edits[n] = fmt.Sprint("step at ", n)
		f.write("a", lines(30, edits))
		f.write(fmt.Sprint("new", n), "n")
		hashes = append(hashes, f.trackAll())
	}
	res, err := f.repo().Revert(background, cairn.Range{From: hashes[1], To: hashes[2]}, cairn.RevertOptions{})
	if err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	delete(edits, 14)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File(lines(30, edits)), "new3": gittest.File("n"), "new26": gittest.File("n")})
}

func TestRenameStaysTogether(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"old": gittest.File("content\n"), "other": gittest.File("o\n")})
	from := f.trackAll()
	os.Rename(f.path("old"), f.path("new"))
	f.write("other", "O\n")
	to := f.trackAll()
	f.write("new", "content\nand the user's line\n")
	res, err := f.repo().Revert(background, cairn.Range{From: from, To: to}, cairn.RevertOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Conflicts) != 2 || f.exists("old") || f.read("other") != "o\n" {
		t.Errorf("%+v", res)
	}
}

func TestPlanIsRefusedAfterTheDiskMoved(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "b": gittest.File("1")})
	before := f.trackAll()
	f.write("a", "2")
	plan, err := f.repo().Restore(background, before, cairn.RestoreOptions{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	f.write("b", "2")
	_, err = f.repo().Restore(background, before, cairn.RestoreOptions{Plan: plan.PlanID})
	assertError(t, err, cairn.ErrMoved)
	if f.read("a") != "2" || f.read("b") != "2" {
		t.Error("something was done")
	}
	f.write("b", "1")
	if _, err := f.repo().Restore(background, before, cairn.RestoreOptions{Plan: plan.PlanID}); err != nil || f.read("a") != "1" {
		t.Errorf("%v, a %q", err, f.read("a"))
	}
}

// TestR36_SubdirectoryRoot: undo and redo in a root inside a bigger repository leave
// everything around it alone.
func TestR36_SubdirectoryRoot(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"pkg/p": gittest.File("1"), "other/o": gittest.File("1"), "top": gittest.File("1")})
	o.Init(f.root)
	f.trackAll() // the whole repository has a store of its own
	sub := &fixture{T: t, root: f.path("pkg"), data: f.data, opt: cairn.Options{Root: f.path("pkg"), DataDir: f.data}}
	before := sub.trackAll()
	f.write("pkg/p", "2")
	f.write("other/o", "2")
	f.write("top", "2")
	sub.restoreAll(before)
	f.write("other/o", "3")
	sub.undo(cairn.RevertOptions{})
	sub.redo()
	if f.read("pkg/p") != "1" || f.read("other/o") != "3" || f.read("top") != "2" {
		t.Errorf("%v", f.manifest())
	}
}

func TestR54_HashesOfAnotherRootAreRefused(t *testing.T) {
	t.Parallel()
	a, b := newFixture(t, gittest.Tree{"x": gittest.File("a")}), newFixture(t, gittest.Tree{"x": gittest.File("b")})
	b.data, b.opt.DataDir = a.data, a.data
	theirs := a.track()
	b.trackAll()
	for _, hash := range []string{theirs.Hash, theirs.Checkpoint} {
		_, err := b.repo().Restore(background, hash, cairn.RestoreOptions{})
		assertError(t, err, cairn.ErrNotFound)
	}
	if b.read("x") != "b" {
		t.Error("something was written")
	}
}

// TestGitReadsTheStore: what each step changed is in the log of its line, and git's
// strictest check finds nothing to say.
func TestGitReadsTheStore(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("one\n"), "p": gittest.FileMode("p", 0o600), "e\xff": gittest.Dir()})
	f.trackAll()
	f.write("a", "two\n")
	if _, err := f.repo().Track(background, cairn.TrackOptions{Message: "the second step"}); err != nil {
		t.Fatal(err)
	}
	f.restoreAll("@~1")
	f.undo(cairn.RevertOptions{})
	store := f.repo().StoreDir()
	o.Fsck(store)
	lines := strings.Fields(o.In(store, "for-each-ref", "--format=%(refname)", "refs/cairn/tracks"))
	if len(lines) != 1 {
		t.Fatalf("lines %q", lines)
	}
	log := o.In(store, "log", "-p", lines[0])
	for _, want := range []string{"the second step", "-one", "+two"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is missing in the log:\n%s", want, log)
		}
	}
	if ops := o.In(store, "log", "--first-parent", "--format=%s", "refs/cairn/operations"); !strings.HasPrefix(ops, "undo\nrestore\n") {
		t.Errorf("operations:\n%s", ops)
	}
}

// TestUndoOfSomePaths leaves the rest of the operation to the next undo.
func TestUndoOfSomePaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "b": gittest.File("1"), "c": gittest.File("1")})
	before := f.trackAll()
	for _, name := range []string{"a", "b", "c"} {
		f.write(name, "2")
	}
	f.restoreAll(before)
	f.undo(cairn.RevertOptions{Paths: []string{"a"}})
	if f.read("a") != "2" || f.read("b") != "1" {
		t.Errorf("%v", f.manifest())
	}
	f.undo(cairn.RevertOptions{})
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("2"), "b": gittest.File("2"), "c": gittest.File("2")})
	_, err := f.repo().Undo(background, cairn.RevertOptions{})
	assertError(t, err, cairn.ErrNotFound)
	f.redo()
	f.redo()
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("1"), "b": gittest.File("1"), "c": gittest.File("1")})
}

// TestUndoOfOtherPaths: where the operation changed other paths there is nothing to undo, as where there is no
// operation. Where its paths are as before already, nothing has to be done, which is no error.
func TestUndoOfOtherPaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "b": gittest.File("1"), "c": gittest.File("1")})
	before := f.trackAll()
	f.write("a", "2")
	f.write("c", "2")
	f.restore(before, "a", "c")
	for _, path := range []string{"b", "typo"} {
		_, err := f.repo().Undo(background, cairn.RevertOptions{Paths: []string{path}})
		assertError(t, err, cairn.ErrNotFound)
	}
	f.write("c", "2")
	if res := f.undo(cairn.RevertOptions{Paths: []string{"c"}}); res.Operation != "" || !res.Complete() {
		t.Errorf("%+v", res)
	}
	f.undo(cairn.RevertOptions{Paths: []string{"a", "b"}})
	for _, path := range []string{"a", "b"} { // a is taken back already
		_, err := f.repo().Undo(background, cairn.RevertOptions{Paths: []string{path}})
		assertError(t, err, cairn.ErrNotFound)
	}
	_, err := f.repo().Redo(background, cairn.RevertOptions{Paths: []string{"b"}})
	assertError(t, err, cairn.ErrNotFound)
}

// TestUndoKeepingLaterChanges: an undo that keeps every later change counts as done,
// and the next undo takes back the operation before it.
func TestUndoKeepingLaterChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "b": gittest.File("1")})
	one := f.trackAll()
	f.write("b", "2")
	f.restore(one, "b")
	f.write("a", "2")
	f.restore(one, "a")
	f.write("a", "the user's")
	if res := f.undo(cairn.RevertOptions{}); len(res.Conflicts) != 1 || res.Operation != "" {
		t.Errorf("%+v", res)
	}
	if res := f.undo(cairn.RevertOptions{OnConflict: cairn.Keep}); len(res.Kept) != 1 {
		t.Errorf("%+v", res)
	}
	f.undo(cairn.RevertOptions{})
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("the user's"), "b": gittest.File("2")})
}
