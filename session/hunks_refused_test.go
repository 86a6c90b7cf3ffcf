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

func TestSessionHunksThatAreNotThere(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines(20, nil))})
	f.step("s", "m1", "1", func() { f.write("a", lines(20, map[int]string{2: "two"})) })
	f.begin("s", "m2", "2")
	f.write("a", lines(20, map[int]string{2: "two", 12: "twelve"}))
	before := gittest.Manifest(t, f.root)
	name := f.named("s", session.Scope{Message: "m1"}, "a")
	for what, c := range map[string]struct {
		id   string
		in   session.Scope
		opt  cairn.RevertOptions
		want error
	}{
		"an unknown name":     {"s", session.Scope{Message: "m1"}, cairn.RevertOptions{Hunks: []string{"000000000000"}}, cairn.ErrNotFound},
		"too short":           {"s", session.Scope{Message: "m1"}, cairn.RevertOptions{Hunks: []string{name[0][:3]}}, cairn.ErrAmbiguous},
		"unchanged lines":     {"s", session.Scope{Message: "m1"}, cairn.RevertOptions{Lines: []cairn.LineRange{{Path: "a", From: 8, To: 9}}}, cairn.ErrNotFound},
		"a path outside":      {"s", session.Scope{Message: "m1"}, cairn.RevertOptions{Lines: []cairn.LineRange{{Path: "../a", From: 1, To: 9}}}, cairn.ErrOutside},
		"another path":        {"s", session.Scope{Message: "m1"}, cairn.RevertOptions{Hunks: name, Paths: []string{"b"}}, cairn.ErrNotFound},
		"an unknown session":  {"x", session.Scope{}, cairn.RevertOptions{Hunks: name}, session.ErrNotFound},
		"an unknown message":  {"s", session.Scope{Message: "m9"}, cairn.RevertOptions{Hunks: name}, session.ErrNotFound},
		"an unknown step":     {"s", session.Scope{Step: "9"}, cairn.RevertOptions{Hunks: name}, session.ErrNotFound},
		"an open step":        {"s", session.Scope{Message: "m2"}, cairn.RevertOptions{Hunks: name}, session.ErrBusy},
		"an open step in all": {"s", session.Scope{}, cairn.RevertOptions{Hunks: name}, session.ErrBusy},
	} {
		if res, err := f.RevertHunks(background, c.id, c.in, c.opt); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v", what, res, err)
		}
	}
	if _, err := f.RevertHunks(background, "s", session.Scope{}, cairn.RevertOptions{}); err == nil || !strings.Contains(err.Error(), "no hunks") {
		t.Errorf("nothing: %v", err)
	}
	if _, err := f.RevertHunks(background, "s", session.Scope{}, cairn.RevertOptions{Hunks: name, OnConflict: "perhaps"}); err == nil {
		t.Error("an unknown policy")
	}
	gittest.AssertEqual(t, "refused", before, gittest.Manifest(t, f.root))
	// A turn that has ended can go back while another one runs.
	f.revertHunks("s", session.Scope{Message: "m1"}, cairn.RevertOptions{Hunks: name})
	if f.read("a") != lines(20, map[int]string{12: "twelve"}) {
		t.Errorf("beside an open step: %s", f.read("a"))
	}
}

// TestHunksByPolicy: a hunk whose lines were changed since, beside one of another file.
func TestHunksByPolicy(t *testing.T) {
	t.Parallel()
	for policy, want := range map[cairn.Policy]struct {
		a, b            string
		kept, conflicts int
		fails           bool
	}{
		"":              {"mine", "1\n", 0, 1, false},
		cairn.Merge:     {"mine", "1\n", 0, 1, false},
		cairn.Overwrite: {"line c", "1\n", 0, 0, false},
		cairn.Keep:      {"mine", "1\n", 1, 0, false},
		cairn.Fail:      {"mine", "2\n", 0, 0, true},
	} {
		f := newFixture(t, gittest.Tree{"a": gittest.File(lines(9, nil)), "b": gittest.File("1\n")})
		f.step("s", "m1", "1", func() { f.write("a", lines(9, map[int]string{2: "agent"})); f.write("b", "2\n") })
		f.write("a", lines(9, map[int]string{2: "mine"}))
		before := gittest.Manifest(t, f.root)
		res, err := f.RevertHunks(background, "s", session.Scope{}, cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "a", "b"), OnConflict: policy})
		if want.fails != errors.Is(err, cairn.ErrConflict) || !want.fails && err != nil {
			t.Fatalf("%s: %v", policy, err)
		}
		if f.read("a") != lines(9, map[int]string{2: want.a}) || f.read("b") != want.b {
			t.Errorf("%s: %q, %q", policy, f.read("a"), f.read("b"))
		}
		if want.fails {
			continue
		}
		if len(res.Kept) != want.kept || len(res.Conflicts) != want.conflicts {
			t.Errorf("%s: %+v", policy, res)
		}
		f.thereAndBack(before)
	}
}

// TestHunksOfASubAgent: the work of a sub-agent is part of the turn that called it.
func TestHunksOfASubAgent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines(20, nil))})
	f.begin("p", "m1", "p1")
	f.write("a", lines(20, map[int]string{2: "parent"}))
	if _, err := f.Begin(background, session.SessionBegin{ID: "c", Parent: "p"}); err != nil {
		t.Fatal(err)
	}
	f.step("c", "c1", "1", func() { f.write("a", lines(20, map[int]string{2: "parent", 12: "child"})) })
	f.end("p", "p1")
	f.step("p", "m2", "p2", func() { f.write("b", "b\n") })
	turn := session.Scope{Message: "m1", Turn: true}
	f.revertHunks("p", turn, cairn.RevertOptions{Hunks: f.named("p", turn, "a @@ -10")})
	if f.read("a") != lines(20, map[int]string{2: "parent"}) {
		t.Errorf("got %s", f.read("a"))
	}
	f.revertHunks("c", session.Scope{}, cairn.RevertOptions{Hunks: f.named("c", session.Scope{}, "a @@ -10")}) // again: nothing is left of it
	if f.read("a") != lines(20, map[int]string{2: "parent"}) {
		t.Errorf("once more: %s", f.read("a"))
	}
}

// TestMadeFilesThatMayHaveExisted: a file that was ignored when the step began is not deleted on a
// guess. One that was named, and absent, is.
func TestMadeFilesThatMayHaveExisted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*.log\n"), "x": gittest.File("x\n")})
	f.step("s", "m1", "1", func() {
		f.write(".gitignore", "")
		f.write("old.log", "perhaps\n")
		f.write("named.log", "made\n")
	}, "named.log")
	all := session.Scope{}
	res := f.revertHunks("s", all, cairn.RevertOptions{Hunks: f.named("s", all, "old.log", "named.log")})
	if f.read("old.log") != "perhaps\n" || f.read("named.log") != "(absent)" || len(res.Kept) != 1 || res.Kept[0].Path != "old.log" {
		t.Errorf("%+v", res)
	}
}

// TestRenameToAPathThatMayHaveExisted: the new name stays, because a file may have been there, so the
// old one does not come back beside it.
func TestRenameToAPathThatMayHaveExisted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*.log\n"), "old": gittest.File(lines(9, nil))})
	f.step("s", "m1", "1", func() {
		f.write(".gitignore", "")
		if err := os.Rename(f.path("old"), f.path("new.log")); err != nil {
			t.Fatal(err)
		}
	})
	before := gittest.Manifest(t, f.root)
	all := session.Scope{}
	res := f.revertHunks("s", all, cairn.RevertOptions{Hunks: f.named("s", all, "old", "new.log")})
	gittest.AssertEqual(t, "the rename", before, gittest.Manifest(t, f.root))
	if len(res.Kept) != 1 || len(res.Conflicts) != 1 || res.Conflicts[0].Path != "old" {
		t.Errorf("%+v", res)
	}
}

// TestHunksOfFilesThatGrewOrCannotBeRead: the disk holds what no capture does at the path.
func TestHunksOfFilesThatGrewOrCannotBeRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"x": gittest.File("x\n"), "big": gittest.File("small\n"), "dir/a": gittest.File("a\n"), "dir/kept": gittest.File("k\n")})
	f.repo.Close()
	f.maxFile = 100
	f.reopen()
	f.step("s", "m1", "1", func() {
		f.write("big", "agent\n")
		f.write("made", "agent\n")
		f.write("dir/a", "agent\n")
		f.remove("x")
	})
	large := strings.Repeat("large\n", 100)
	f.write("big", large)
	f.write("made", large)
	f.write("x", large)
	all := session.Scope{}
	names := f.named("s", all, "big", "made", "x", "dir/a")
	res := f.revertHunks("s", all, cairn.RevertOptions{Hunks: names})
	if f.read("big") != large || f.read("made") != large || f.read("x") != large || len(res.Conflicts)+len(res.Kept) != 3 || f.read("dir/a") != "a\n" {
		t.Errorf("%+v", res)
	}
	if os.Getuid() == 0 {
		return // the superuser reads every directory
	}
	if _, err := f.repo.Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(f.path("dir"), 0); err != nil {
		t.Fatal(err)
	}
	res = f.revertHunks("s", all, cairn.RevertOptions{Hunks: f.named("s", all, "dir/a")})
	if err := os.Chmod(f.path("dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if f.read("dir/a") != "agent\n" || res.Complete() {
		t.Errorf("below a directory that cannot be read: %+v", res)
	}
}

// TestHunksWhereAnotherKindStandsNow: later work stands at the names that the hunks are about, or above
// or below them. With every policy but Overwrite it stays.
func TestHunksWhereAnotherKindStandsNow(t *testing.T) {
	t.Parallel()
	for _, policy := range []cairn.Policy{cairn.Merge, cairn.Keep, cairn.Overwrite} {
		f := newFixture(t, gittest.Tree{"gone": gittest.File("1\n"), "hollow": gittest.File("1\n"), "dir/changed": gittest.File("1\n"), "made-dir/x": gittest.File("x\n")})
		f.step("s", "m1", "1", func() {
			f.remove("gone")
			f.remove("hollow")
			f.write("dir/changed", "2\n")
			f.write("made", "2\n")
		})
		f.write("gone/mine", "mine\n")
		f.write("gone/deep/mine", "mine\n")
		if err := os.MkdirAll(f.path("hollow/empty"), 0o755); err != nil {
			t.Fatal(err)
		}
		f.remove("dir")
		f.write("dir", "mine\n")
		f.remove("made")
		f.write("made/mine", "mine\n")
		before := gittest.Manifest(t, f.root)
		res := f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "gone", "hollow", "dir", "made"), OnConflict: policy})
		if policy != cairn.Overwrite {
			gittest.AssertEqual(t, string(policy), before, gittest.Manifest(t, f.root))
			if len(res.Kept)+len(res.Conflicts) < 3 || res.Operation != "" {
				t.Errorf("%s: %+v", policy, res)
			}
			continue
		}
		if f.read("gone") != "1\n" || f.read("hollow") != "1\n" || f.read("made/mine") != "mine\n" {
			t.Errorf("%s: %+v", policy, res)
		}
		f.thereAndBack(before)
	}
}

// TestHunksAfterARevertOfTurns: hunks of a turn that is visible go back while later turns are
// reverted, and the later turns still come back.
func TestHunksAfterARevertOfTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines(20, nil))})
	f.step("s", "m1", "1", func() { f.write("a", lines(20, map[int]string{2: "one"})) })
	f.step("s", "m2", "2", func() { f.write("a", lines(20, map[int]string{2: "one", 12: "two"})) })
	f.revert("s", session.Target{Message: "m2"})
	f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "a @@ -1")})
	if f.read("a") != lines(20, nil) {
		t.Errorf("got %s", f.read("a"))
	}
	if _, res := f.unrevert("s"); f.read("a") != lines(20, map[int]string{12: "two"}) || !res.Complete() {
		t.Errorf("%+v\n%s", res, f.read("a"))
	}
	f.revert("s", session.Target{Start: true})
	if f.read("a") != lines(20, nil) {
		t.Errorf("all turns: %s", f.read("a"))
	}
}

func TestScopeOfATurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("0\n")})
	add := func(message, role string) {
		t.Helper()
		if _, err := f.AddMessage(background, session.MessageBegin{Session: "s", Message: message, Role: role, Prompt: message}); err != nil {
			t.Fatal(err)
		}
	}
	add("early", "assistant")
	add("first", session.RoleUser)
	add("answer", "assistant")
	add("second", session.RoleUser)
	for spec, want := range map[string]session.Scope{
		"1": {Message: "early"}, "2": {Message: "first", Turn: true}, "answer": {Message: "first", Turn: true}, "-1": {Message: "second"}, "@~1": {Message: "first", Turn: true},
		"early": {Message: "early"}, "sec": {Message: "second"},
	} {
		if in, err := f.TurnScope(background, "s", spec); err != nil || in != want {
			t.Errorf("%s: %+v, %v", spec, in, err)
		}
	}
	if _, err := f.TurnScope(background, "s", "4"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("a turn that is not there: %v", err)
	}
}
