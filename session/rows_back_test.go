package session_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestR31_TheUsersOwnFilesStay: what the user made or changed between the steps.
func TestR31_TheUsersOwnFilesStay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"agent": gittest.File("1\n"), "user": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("agent", "2\n") })
	f.write("user", "2\n")
	f.write("users-new", "n\n")
	f.step("s", "m2", "2", func() { f.write("agent", "3\n") })
	f.write("users-later", "l\n")
	_, res := f.revert("s", session.Target{Start: true})
	if !res.Complete() {
		t.Errorf("%+v", res)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{
		"agent": gittest.File("1\n"), "user": gittest.File("2\n"), "users-new": gittest.File("n\n"), "users-later": gittest.File("l\n"),
	})
}

// TestR31_EditsBetweenStepsAreMerged: the user works on the same file as the agent,
// between two of its steps and after them.
func TestR31_EditsBetweenStepsAreMerged(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"x": gittest.File(lines(24, nil))})
	f.step("s", "m1", "1", func() { f.write("x", lines(24, map[int]string{1: "agent 1"})) })
	f.write("x", lines(24, map[int]string{1: "agent 1", 8: "user 1"}))
	f.step("s", "m2", "2", func() { f.write("x", lines(24, map[int]string{1: "agent 1", 8: "user 1", 15: "agent 2"})) })
	f.write("x", lines(24, map[int]string{1: "agent 1", 8: "user 1", 15: "agent 2", 22: "user 2"}))
	f.revert("s", session.Target{Start: true})
	if want := lines(24, map[int]string{8: "user 1", 22: "user 2"}); f.read("x") != want {
		t.Errorf("got\n%s", f.read("x"))
	}
	f.write("x", lines(24, map[int]string{4: "user 3", 8: "user 1", 22: "user 2"}))
	f.revert("s", session.Target{Message: "m2"})
	if want := lines(24, map[int]string{1: "agent 1", 4: "user 3", 8: "user 1", 22: "user 2"}); f.read("x") != want {
		t.Errorf("moved forward:\n%s", f.read("x"))
	}
	f.revert("s", session.Target{Start: true})
	if want := lines(24, map[int]string{4: "user 3", 8: "user 1", 22: "user 2"}); f.read("x") != want {
		t.Errorf("moved back:\n%s", f.read("x"))
	}
	f.unrevert("s")
	if want := lines(24, map[int]string{1: "agent 1", 4: "user 3", 8: "user 1", 15: "agent 2", 22: "user 2"}); f.read("x") != want {
		t.Errorf("unreverted:\n%s", f.read("x"))
	}
	gittest.NewOracle(t).Fsck(f.repo.StoreDir())
}

// TestR31_OverlappingEditsAreConflicts: the user's version stays and is listed.
func TestR31_OverlappingEditsAreConflicts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"x": gittest.File("1\n"), "y": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("x", "agent\n"); f.write("y", "agent\n") })
	f.write("x", "user\n")
	s, res := f.revert("s", session.Target{Message: "m1"})
	if f.read("x") != "user\n" || f.read("y") != "1\n" || len(res.Conflicts) != 1 || res.Conflicts[0].Path != "x" || s.Revert == nil {
		t.Errorf("x %q, y %q, %+v", f.read("x"), f.read("y"), res)
	}
	if _, res := f.unrevert("s"); f.read("x") != "user\n" || f.read("y") != "agent\n" || !res.Complete() {
		t.Errorf("x %q, y %q, %+v", f.read("x"), f.read("y"), res)
	}
	for _, c := range []struct {
		policy cairn.Policy
		x      string
	}{{cairn.Keep, "user\n"}, {cairn.Overwrite, "1\n"}} {
		_, res, err := f.Revert(background, "s", session.Target{Message: "m1"}, session.MoveOptions{OnConflict: c.policy})
		if err != nil || f.read("x") != c.x || f.read("y") != "1\n" {
			t.Errorf("%s: x %q, y %q, %+v, %v", c.policy, f.read("x"), f.read("y"), res, err)
		}
		f.unrevert("s")
		if f.read("x") != "user\n" {
			t.Errorf("%s, unreverted: x %q", c.policy, f.read("x"))
		}
	}
	_, _, err := f.Revert(background, "s", session.Target{Message: "m1"}, session.MoveOptions{OnConflict: cairn.Fail})
	if !errors.Is(err, cairn.ErrConflict) || f.read("y") != "agent\n" {
		t.Errorf("fail: %v, y %q", err, f.read("y"))
	}
}

// TestR34_WhatTheUserWritesAfterAnUndoStays.
func TestR34_WhatTheUserWritesAfterAnUndoStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("s", "m", "1", func() { f.write("a", "2\n") })
	f.revert("s", session.Target{Message: "m"})
	f.write("o", "user\n")
	f.unrevert("s")
	if f.read("o") != "user\n" || f.read("a") != "2\n" {
		t.Errorf("o %q, a %q", f.read("o"), f.read("a"))
	}
}

// TestR35_UnrevertIsExact: deletions, permission bits and empty directories.
func TestR35_UnrevertIsExact(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "run": gittest.File("#!\n"), "hollow": gittest.Dir(), "link": gittest.Link("a"), "d/x": gittest.File("x")})
	before := gittest.Manifest(t, f.root)
	f.step("s", "m", "1", func() {
		f.remove("a")
		f.remove("hollow")
		f.remove("link")
		f.remove("d")
		f.write("d", "a file now")
		os.Chmod(f.path("run"), 0o750)
		os.MkdirAll(f.path("new/empty"), 0o700)
	})
	after := gittest.Manifest(t, f.root)
	for range 2 {
		f.revert("s", session.Target{Message: "m"})
		gittest.AssertEqual(t, "reverted", before, gittest.Manifest(t, f.root))
		f.unrevert("s")
		gittest.AssertEqual(t, "unreverted", after, gittest.Manifest(t, f.root))
	}
}

// TestR37_APlanShowsCounts: a dry run says how much would be touched, changes
// nothing, and its plan can be insisted on.
func TestR37_APlanShowsCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("s", "m", "1", func() {
		for _, name := range []string{"b", "c", "d"} {
			f.write(name, name)
		}
	})
	before := gittest.Manifest(t, f.root)
	dry := session.MoveOptions{DryRun: true}
	s, res, err := f.Revert(background, "s", session.Target{Start: true}, dry)
	if err != nil || len(res.Plan) != 3 || res.PlanID == "" || s.Revert == nil || s.Messages != 0 || !strings.Contains(s.Revert.Diff, "deleted file") {
		t.Fatalf("%+v %+v, %v", s, res, err)
	}
	gittest.AssertEqual(t, "after a dry run", before, gittest.Manifest(t, f.root))
	if f.get("s").Revert != nil {
		t.Error("a dry run left its mark")
	}
	_, again, err := f.Revert(background, "s", session.Target{Start: true}, dry)
	if err != nil || again.PlanID != res.PlanID {
		t.Errorf("%s, then %s, %v", res.PlanID, again.PlanID, err)
	}
	f.write("b", "changed")
	if _, _, err := f.Revert(background, "s", session.Target{Start: true}, session.MoveOptions{Plan: res.PlanID}); !errors.Is(err, cairn.ErrMoved) {
		t.Errorf("%v", err)
	}
	f.write("b", "b")
	if _, _, err := f.Revert(background, "s", session.Target{Start: true}, session.MoveOptions{Plan: res.PlanID}); err != nil {
		t.Error(err)
	}
}

// TestR49_TheBoundaryIsComputed: several steps touch one file; from the earliest
// message to a later one.
func TestR49_TheBoundaryIsComputed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"x": gittest.File("0\n")})
	for i, m := range []string{"m1", "m2", "m3"} {
		f.step("s", m, m, func() { f.write("x", string(rune('1'+i))+"\n") })
	}
	f.write("user", "u\n")
	for _, c := range []struct{ message, want string }{{"m1", "0\n"}, {"m3", "2\n"}, {"m2", "1\n"}, {"m3", "2\n"}, {"m1", "0\n"}} {
		s, res := f.revert("s", session.Target{Message: c.message})
		if f.read("x") != c.want || s.Revert.Message != c.message || f.read("user") != "u\n" || !res.Complete() {
			t.Errorf("%s: x is %q, %+v", c.message, f.read("x"), res)
		}
		if _, again := f.revert("s", session.Target{Message: c.message}); again.Operation != "" || len(again.Restored) > 0 {
			t.Errorf("%s, again: %+v", c.message, again)
		}
	}
	f.unrevert("s")
	if f.read("x") != "3\n" {
		t.Errorf("x is %q", f.read("x"))
	}
}

// TestR50_AnEmptyTurn: nothing was changed, so nothing is written.
func TestR50_AnEmptyTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("s", "plan", "1", func() {})
	f.write("a", "user\n")
	f.write("b", "user\n")
	before := gittest.Manifest(t, f.root)
	s, res := f.revert("s", session.Target{Message: "plan"})
	gittest.AssertEqual(t, "after the revert", before, gittest.Manifest(t, f.root))
	if res.Operation != "" || len(res.Restored)+len(res.Deleted) != 0 || s.Revert == nil || s.Messages != 0 {
		t.Errorf("%+v %+v", s, res)
	}
	f.write("a", "user 2\n")
	before = gittest.Manifest(t, f.root)
	f.unrevert("s")
	gittest.AssertEqual(t, "after the unrevert", before, gittest.Manifest(t, f.root))
}

// TestR52_SeveralLevels: reverted steps that the session has left behind can still be
// restored.
func TestR52_SeveralLevels(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("a", "2\n"); f.write("precious", "p\n") })
	f.revert("s", session.Target{Message: "m1"})
	f.step("s", "m2", "2", func() { f.write("other", "o\n") })
	if s := f.get("s"); s.Revert != nil || s.Messages != 1 || s.Steps != 1 {
		t.Errorf("%+v", s)
	}
	if _, err := f.repo.Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	if f.read("precious") != "p\n" || f.read("a") != "2\n" || f.read("other") != "o\n" {
		t.Errorf("precious %q, a %q, other %q", f.read("precious"), f.read("a"), f.read("other"))
	}
	if s := f.get("s"); s.Revert != nil || s.Messages != 1 {
		t.Errorf("%+v", s)
	}
}

// TestR53_UndoOfARevertDisarmsIt: the session's state follows what Repo.Undo and
// Redo do to the files.
func TestR53_UndoOfARevertDisarmsIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("a", "2\n") })
	f.step("s", "m2", "2", func() { f.write("a", "3\n") })
	f.revert("s", session.Target{Message: "m2"})
	f.revert("s", session.Target{Message: "m1"})
	undo := func(redo bool, want, boundary string) {
		t.Helper()
		do := f.repo.Undo
		if redo {
			do = f.repo.Redo
		}
		if _, err := do(background, cairn.RevertOptions{}); err != nil {
			t.Fatal(err)
		}
		got := ""
		if s := f.get("s"); s.Revert != nil {
			got = s.Revert.Message
		}
		if f.read("a") != want || got != boundary {
			t.Errorf("a %q, boundary %q, want %q and %q", f.read("a"), got, want, boundary)
		}
	}
	undo(false, "2\n", "m2")
	undo(false, "3\n", "")
	undo(true, "2\n", "m2")
	undo(true, "1\n", "m1")
	undo(false, "2\n", "m2")
	f.revert("s", session.Target{Message: "m1"})
	f.unrevert("s")
	undo(false, "1\n", "m1")
	f.unrevert("s")
	if f.read("a") != "3\n" {
		t.Errorf("a %q", f.read("a"))
	}
}

// TestR53_ARevertIsNotRearmedLater: the session went on after Repo.Undo.
func TestR53_ARevertIsNotRearmedLater(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("a", "2\n") })
	f.revert("s", session.Target{Message: "m1"})
	if _, err := f.repo.Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	f.step("s", "m2", "2", func() { f.write("b", "1\n") })
	if _, err := f.repo.Redo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	if s := f.get("s"); s.Revert != nil || s.Messages != 2 {
		t.Errorf("%+v", s)
	}
}

// TestR32_RevertsInsideAnothersStep: what another session's revert, or a restore of
// the user, does while a step is open is not the step's.
func TestR32_RevertsInsideAnothersStep(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	f.step("B", "m", "1", func() { f.write("b", "2\n") })
	f.begin("A", "m", "1")
	f.write("a", "2\n")
	f.revert("B", session.Target{Start: true})
	f.end("A", "1")
	if s := f.get("A"); s.Summary.Files != 1 {
		t.Errorf("%+v", s.Summary)
	}
	_, res := f.revert("A", session.Target{Start: true})
	if f.read("a") != "1\n" || f.read("b") != "1\n" || len(res.Kept) != 1 || res.Kept[0].Path != "b" {
		t.Errorf("a %q, b %q, %+v", f.read("a"), f.read("b"), res)
	}
}
