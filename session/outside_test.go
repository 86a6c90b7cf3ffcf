package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// beside is a fixture with a directory beside the root.
type beside struct {
	*fixture
	dir string // by the name that it has on disk
}

func newBeside(t *testing.T) *beside {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &beside{newFixture(t, gittest.Tree{"a": gittest.File("a\n")}), dir}
}

func (b *beside) at(name string) string { return filepath.Join(b.dir, name) }

func (b *beside) put(name, content string, perm os.FileMode) {
	b.Helper()
	if err := errors.Join(os.WriteFile(b.at(name), []byte(content), perm), os.Chmod(b.at(name), perm)); err != nil {
		b.Fatal(err)
	}
}

func (b *beside) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// look lists the directory: mode, and contents or target.
func (b *beside) look() string {
	b.Helper()
	var lines []string
	for path, e := range gittest.Manifest(b.T, b.dir) {
		if path != "" && path != "." {
			lines = append(lines, fmt.Sprintf("%s %+v", path, e))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (b *beside) back(opt session.MoveOptions) *cairn.Result {
	b.Helper()
	opt.Outside = true
	_, res, err := b.Revert(background, "s", session.Target{Message: "m1"}, opt)
	b.must(err)
	if res.Outside == nil {
		b.Fatalf("nothing is said of paths outside: %+v", res)
	}
	return res
}

func (b *beside) forth() *cairn.Result {
	b.Helper()
	_, res, err := b.Unrevert(background, "s", session.MoveOptions{Outside: true})
	b.must(err)
	return res
}

// outsideCases are what a step may do to paths that it names outside the root. Every one goes back
// exactly, and comes again exactly.
var outsideCases = []struct {
	name   string
	before func(b *beside)
	paths  []string
	step   func(b *beside)
}{
	{"a file is changed", func(b *beside) { b.put("f", "old", 0o640) }, []string{"f"}, func(b *beside) { b.put("f", "new and longer", 0o640) }},
	{"a file is made", func(*beside) {}, []string{"f"}, func(b *beside) { b.put("f", "new", 0o600) }},
	{"a file is deleted", func(b *beside) { b.put("f", "old", 0o604) }, []string{"f"}, func(b *beside) { b.must(os.Remove(b.at("f"))) }},
	{"a file is empty", func(b *beside) { b.put("f", "", 0o644) }, []string{"f"}, func(b *beside) { b.must(os.Remove(b.at("f"))) }},
	{"only bits change", func(b *beside) { b.put("f", "old", 0o600) }, []string{"f"}, func(b *beside) { b.put("f", "old", 0o755) }},
	{"a link is changed", func(b *beside) { b.must(os.Symlink("one", b.at("l"))) }, []string{"l"}, func(b *beside) {
		b.must(errors.Join(os.Remove(b.at("l")), os.Symlink("two", b.at("l"))))
	}},
	{"a link becomes a file", func(b *beside) { b.must(os.Symlink("nowhere", b.at("l"))) }, []string{"l"}, func(b *beside) {
		b.must(os.Remove(b.at("l")))
		b.put("l", "file", 0o644)
	}},
	{"a file becomes a link", func(b *beside) { b.put("f", "old", 0o600) }, []string{"f"}, func(b *beside) {
		b.must(errors.Join(os.Remove(b.at("f")), os.Symlink("x", b.at("f"))))
	}},
	{"several, in a directory, with odd names", func(b *beside) {
		b.must(os.Mkdir(b.at("d"), 0o700))
		b.put("d/one", "1", 0o444)
		b.put("d/ two\n", "2", 0o644)
	}, []string{"d/one", "d/ two\n", "d/three"}, func(b *beside) {
		b.must(os.Remove(b.at("d/one")))
		b.put("d/ two\n", "2 2", 0o644)
		b.put("d/three", "3", 0o711)
	}},
	{"a path is named by way of a link", func(b *beside) {
		b.must(errors.Join(os.Mkdir(b.at("d"), 0o755), os.Symlink("d", b.at("way"))))
		b.put("d/f", "old", 0o644)
	}, []string{"way/f"}, func(b *beside) { b.put("d/f", "new", 0o644) }},
}

func TestOutsideGoesBack(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permission bits, links and names of Unix")
	}
	for _, c := range outsideCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBeside(t)
			c.before(b)
			old := b.look()
			var paths []string
			for _, path := range c.paths {
				paths = append(paths, b.at(path))
			}
			b.step("s", "m1", "1", func() { c.step(b) }, paths...)
			done := b.look()
			if done == old {
				t.Fatal("the step changed nothing")
			}
			plan := b.back(session.MoveOptions{DryRun: true})
			if b.look() != done || plan.Outside.Changes() == 0 {
				t.Errorf("a dry run changed something, or plans nothing: %+v", plan.Outside)
			}
			if res := b.back(session.MoveOptions{Plan: plan.PlanID}); !res.Complete() || res.Outside.Changes() != plan.Outside.Changes() || len(res.NotTakenBack) > 0 {
				t.Errorf("went back: %+v", res)
			}
			b.is(old, "after the way back")
			if res := b.forth(); !res.Complete() || res.Outside.Changes() == 0 {
				t.Errorf("came again: %+v", res)
			}
			b.is(done, "after it came again")
			b.back(session.MoveOptions{})
			b.is(old, "after the second way back")
		})
	}
}

func (b *beside) is(want, when string) {
	b.Helper()
	if got := b.look(); got != want {
		b.Errorf("%s there is\n%s\nnot\n%s", when, got, want)
	}
	if rest, _ := filepath.Glob(b.at(".cairn-*")); len(rest) > 0 {
		b.Errorf("%s temporary files are left: %q", when, rest)
	}
}

// TestOutsideStaysWithoutTheOption: a way back touches nothing outside, lists what it leaves, and says how it
// can go back; the same boundary with the option takes it.
func TestOutsideStaysWithoutTheOption(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.put("f", "old", 0o600)
	b.step("s", "m1", "1", func() { b.put("f", "new", 0o600); b.write("a", "2\n") }, b.at("f"), "a")
	_, res := b.revert("s", session.Target{Message: "m1"})
	if len(res.NotTakenBack) != 1 || string(res.NotTakenBack[0].Path) != b.at("f") || res.NotTakenBack[0].Reason != session.ReasonOutside {
		t.Errorf("not taken back: %+v", res.NotTakenBack)
	}
	if res.Outside != nil || len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "--outside") || !strings.Contains(res.Notes[0], b.at("f")) {
		t.Errorf("notes %q, outside %+v", res.Notes, res.Outside)
	}
	if data, err := os.ReadFile(b.at("f")); err != nil || string(data) != "new" || b.read("a") != "a\n" {
		t.Errorf("a is %q, f is %q, %v", b.read("a"), data, err)
	}
	if res := b.back(session.MoveOptions{}); !slices.Equal(res.Outside.Restored, []string{b.at("f")}) {
		t.Errorf("the same boundary with Outside: %+v", res.Outside)
	}
	if data, err := os.ReadFile(b.at("f")); err != nil || string(data) != "old" {
		t.Errorf("f is %q, %v", data, err)
	}
}

// TestOutsideChangedSince: a later change is a conflict and stays; the policies decide otherwise.
func TestOutsideChangedSince(t *testing.T) {
	t.Parallel()
	for policy, want := range map[cairn.Policy]string{"": "later", cairn.Merge: "later", cairn.Keep: "later", cairn.Overwrite: "old", cairn.Fail: "later"} {
		b := newBeside(t)
		b.put("f", "old", 0o600)
		b.step("s", "m1", "1", func() { b.put("f", "new", 0o600); b.write("a", "2\n") }, b.at("f"), "a")
		b.put("f", "later", 0o600)
		_, res, err := b.Revert(background, "s", session.Target{Message: "m1"}, session.MoveOptions{Outside: true, OnConflict: policy})
		if policy == cairn.Fail {
			if !errors.Is(err, cairn.ErrConflict) || b.read("a") != "2\n" {
				t.Errorf("fail: %v, a is %q", err, b.read("a"))
			}
			continue
		}
		b.must(err)
		data, err := os.ReadFile(b.at("f"))
		if err != nil || string(data) != want || b.read("a") != "a\n" {
			t.Errorf("%q: f is %q, %v, a is %q", policy, data, err, b.read("a"))
		}
		if kept := policy == cairn.Keep; (len(res.Outside.Kept) == 1) != kept || (len(res.Outside.Conflicts) == 1) != (want == "later" && !kept) {
			t.Errorf("%q: %+v", policy, res.Outside)
		}
		if policy != cairn.Overwrite {
			continue
		}
		b.forth()
		if data, _ := os.ReadFile(b.at("f")); string(data) != "later" {
			t.Errorf("the dropped change does not come again: %q", data)
		}
	}
}

// TestOutsideBetweenSteps: steps go back to the state before the earliest. A change of another between two of
// them stops the way of that path there.
func TestOutsideBetweenSteps(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	for _, name := range []string{"f", "g"} {
		b.put(name, "0", 0o600)
	}
	b.step("s", "m1", "1", func() { b.put("f", "1", 0o600); b.put("g", "1", 0o600) }, b.at("f"), b.at("g"))
	b.put("g", "user", 0o600)
	b.step("s", "m2", "2", func() { b.put("f", "2", 0o600); b.put("g", "2", 0o600) }, b.at("f"), b.at("g"))
	res := b.back(session.MoveOptions{})
	f, _ := os.ReadFile(b.at("f"))
	g, _ := os.ReadFile(b.at("g"))
	if string(f) != "0" || string(g) != "2" || len(res.Outside.Conflicts) != 1 {
		t.Errorf("f is %q, g %q, %+v", f, g, res.Outside)
	}
}

// TestOutsideOfChosenSteps: single steps go back with what they changed outside, and an undo of that brings it
// again. An undo without the option leaves it.
func TestOutsideOfChosenSteps(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.put("f", "old", 0o600)
	b.step("s", "m1", "1", func() { b.put("f", "new", 0o600); b.write("a", "2\n") }, b.at("f"), "a")
	done := b.look()
	if _, err := b.RevertSteps(background, "s", []string{"1"}, cairn.RevertOptions{Outside: true, Paths: []string{"a"}}); err == nil {
		t.Error("Outside beside Paths is accepted")
	}
	res, err := b.RevertSteps(background, "s", []string{"1"}, cairn.RevertOptions{Outside: true})
	b.must(err)
	old := b.look()
	if res.Operation == "" || !slices.Equal(res.Outside.Restored, []string{b.at("f")}) || old == done {
		t.Fatalf("%+v, %s", res, old)
	}
	for op, err := range b.repo.Operations(background) {
		if b.must(err); !slices.Equal(op.Outside, []string{b.at("f")}) {
			t.Errorf("the operation lists %q", op.Outside)
		}
		break
	}
	_, err = b.repo.Undo(background, cairn.RevertOptions{Outside: true})
	b.must(err)
	b.is(done, "after undo")
	if res, err = b.repo.Redo(background, cairn.RevertOptions{Outside: true}); err != nil || res.Outside.Changes() != 1 {
		t.Errorf("redo: %+v, %v", res, err)
	}
	b.is(old, "after redo")
	if res, err := b.repo.Undo(background, cairn.RevertOptions{}); err != nil || res.Outside != nil || b.look() != old || b.read("a") != "2\n" {
		t.Errorf("undo without Outside: %+v, %v", res, err)
	}
}

// TestRedoOfAnUndoWithoutOutside: a redo has the paths that its undo had. So one of an undo without Outside leaves
// those outside as the first operation left them, and the next undo with Outside takes them back with the rest.
func TestRedoOfAnUndoWithoutOutside(t *testing.T) {
	t.Parallel()
	undo, redo := (*cairn.Repo).Undo, (*cairn.Repo).Redo
	type move struct {
		do      func(*cairn.Repo, context.Context, cairn.RevertOptions) (*cairn.Result, error)
		outside bool
		a, f    string // afterwards
		moved   int    // paths outside
	}
	for name, moves := range map[string][]move{
		"left by the undo": {{undo, false, "2", "old", 0}, {redo, true, "a", "old", 0}, {undo, true, "2", "new", 1}, {redo, true, "a", "old", 1}},
		"left by both":     {{undo, false, "2", "old", 0}, {redo, false, "a", "old", 0}, {undo, true, "2", "new", 1}},
		"left twice": {
			{undo, false, "2", "old", 0}, {redo, false, "a", "old", 0}, {undo, false, "2", "old", 0}, {redo, true, "a", "old", 0}, {undo, true, "2", "new", 1},
		},
		"left by the redo":        {{undo, true, "2", "new", 1}, {redo, false, "a", "new", 0}, {undo, true, "2", "new", 0}, {redo, true, "a", "old", 1}},
		"left by the second undo": {{undo, true, "2", "new", 1}, {redo, true, "a", "old", 1}, {undo, false, "2", "old", 0}, {redo, true, "a", "old", 0}, {undo, true, "2", "new", 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBeside(t)
			b.put("f", "old", 0o600)
			b.step("s", "m1", "1", func() { b.put("f", "new", 0o600); b.write("a", "2\n") }, b.at("f"), "a")
			_, err := b.RevertSteps(background, "s", []string{"1"}, cairn.RevertOptions{Outside: true})
			b.must(err)
			for i, m := range moves {
				res, err := m.do(b.repo, background, cairn.RevertOptions{Outside: m.outside})
				b.must(err)
				f, err := os.ReadFile(b.at("f"))
				if a := strings.TrimSpace(b.read("a")); err != nil || a != m.a || string(f) != m.f || res.Outside.Changes() != m.moved || res.Outside.Staying() > 0 {
					t.Errorf("move %d: a is %q, f %q, %+v, %v", i+1, a, f, res.Outside, err)
				}
			}
		})
	}
}

// TestOutsideOfARedoIsTheUsers: what the undo has taken back and the redo has left is the user's from then on. A
// later undo with Outside neither replaces it nor calls it a conflict.
func TestOutsideOfARedoIsTheUsers(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.put("f", "old", 0o600)
	b.step("s", "m1", "1", func() { b.put("f", "new", 0o600); b.write("a", "2\n") }, b.at("f"), "a")
	_, err := b.RevertSteps(background, "s", []string{"1"}, cairn.RevertOptions{Outside: true})
	b.must(err)
	_, err = b.repo.Undo(background, cairn.RevertOptions{Outside: true})
	b.must(err)
	_, err = b.repo.Redo(background, cairn.RevertOptions{})
	b.must(err)
	b.put("f", "mine", 0o600)
	res, err := b.repo.Undo(background, cairn.RevertOptions{Outside: true, OnConflict: cairn.Overwrite})
	b.must(err)
	if f, _ := os.ReadFile(b.at("f")); string(f) != "mine" || res.Outside.Changes()+res.Outside.Staying() > 0 {
		t.Errorf("f is %q, %+v", f, res.Outside)
	}
}

// TestAnOperationThatMovedOnlyWhatLiesOutside counts with Outside alone.
func TestAnOperationThatMovedOnlyWhatLiesOutside(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.step("s", "m1", "1", func() { b.put("f", "new", 0o600) }, b.at("f"))
	done := b.look()
	if _, err := b.RevertSteps(background, "s", []string{"1"}, cairn.RevertOptions{Outside: true}); err != nil || b.look() != "" {
		t.Fatalf("%v, %s", err, b.look())
	}
	if _, err := b.repo.Undo(background, cairn.RevertOptions{}); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("undo without Outside: %v", err)
	}
	if _, err := b.repo.Undo(background, cairn.RevertOptions{Outside: true}); err != nil {
		t.Error(err)
	}
	b.is(done, "after undo")
}
