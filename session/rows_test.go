package session_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestR24_ShellChanges: what no tool named is the step's as well.
func TestR24_ShellChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"old": gittest.File("o\n"), "move": gittest.File("m\n")})
	before := gittest.Manifest(t, f.root)
	f.step("s", "m", "1", func() {
		f.remove("old")
		f.write("made/by/shell", "x")
		if err := os.Rename(f.path("move"), f.path("moved")); err != nil {
			t.Fatal(err)
		}
	})
	f.revert("s", session.Target{Message: "m"})
	gittest.AssertEqual(t, "after the revert", before, gittest.Manifest(t, f.root))
}

// TestR25_ChildrenAreRevertedWithTheirParent: a sub-agent goes on after its parent's
// turn has ended, beside the parent's next turn.
func TestR25_ChildrenAreRevertedWithTheirParent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	before := gittest.Manifest(t, f.root)
	f.begin("p", "m1", "p1")
	f.write("parent", "1\n")
	if _, err := f.Begin(background, session.SessionBegin{ID: "c", Parent: "p"}); err != nil {
		t.Fatal(err)
	}
	f.begin("c", "cm", "c1")
	f.end("p", "p1")
	f.write("a", "2\n")
	f.write("child", "1\n")
	f.end("c", "c1")
	f.step("c", "cm", "c2", func() { f.write("child", "2\n") })
	if s := f.get("p"); !slices.Equal(s.Children, []string{"c"}) || s.Summary.Files != 3 {
		t.Errorf("%+v %+v", s, s.Summary)
	}
	list, err := f.History(background, "p")
	if err != nil || !slices.Equal(list[0].Children, []string{"c"}) {
		t.Errorf("%+v, %v", list, err)
	}
	after := gittest.Manifest(t, f.root)
	f.revert("p", session.Target{Message: "m1"})
	gittest.AssertEqual(t, "after the revert", before, gittest.Manifest(t, f.root))
	list, err = f.History(background, "c")
	if err != nil || !list[0].Steps[0].Reverted || !list[0].Steps[1].Reverted {
		t.Errorf("%+v, %v", list, err)
	}
	f.unrevert("p")
	gittest.AssertEqual(t, "after the unrevert", after, gittest.Manifest(t, f.root))

	f.revert("p", session.Target{Message: "m1"})
	f.step("p", "m2", "p2", func() { f.write("later", "1\n") })
	if s := f.get("c"); s.Steps != 0 {
		t.Errorf("the child keeps reverted steps: %+v", s)
	}
}

// TestR25_ChildrenOfEarlierTurnsStay: only the sub-agents of what is reverted go.
func TestR25_ChildrenOfEarlierTurnsStay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{})
	f.begin("p", "m1", "p1")
	if _, err := f.Begin(background, session.SessionBegin{ID: "c", Parent: "p"}); err != nil {
		t.Fatal(err)
	}
	f.end("p", "p1")
	f.begin("c", "cm", "c1", "child")
	f.begin("p", "m2", "p2", "parent")
	f.write("child", "1\n")
	f.write("parent", "1\n")
	f.end("p", "p2")
	f.end("c", "c1")
	_, res := f.revert("p", session.Target{Message: "m2"})
	if f.read("child") != "1\n" || f.read("parent") != "(absent)" {
		t.Errorf("child %q, parent %q, %+v", f.read("child"), f.read("parent"), res)
	}
}

// TestR26_ToolsOfOneStepRunInParallel: the step is the unit, hints may come late.
func TestR26_ToolsOfOneStepRunInParallel(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	f.begin("s", "m", "1", "a")
	if err := f.Hint(background, "s", "1", []string{f.path("b")}); err != nil {
		t.Fatal(err)
	}
	f.write("a", "2\n")
	f.begin("s", "m", "1", "b")
	f.write("b", "2\n")
	if st := f.end("s", "1"); len(st.Patch.Files) != 2 || len(st.Paths) != 2 {
		t.Errorf("%+v", st)
	}
	f.revert("s", session.Target{Message: "m"})
	if f.read("a")+f.read("b") != "1\n1\n" {
		t.Errorf("a %q, b %q", f.read("a"), f.read("b"))
	}
}

// TestR27_ThePromptIsACheckpoint: what runs between the prompt and the first step is
// seen against the state at the prompt.
func TestR27_ThePromptIsACheckpoint(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	if _, err := f.AddMessage(background, session.MessageBegin{Session: "s", Message: "m", Role: session.RoleUser, Prompt: "do it"}); err != nil {
		t.Fatal(err)
	}
	f.write("a", "2\n")
	f.begin("s", "m", "1")
	if _, err := f.Fork(background, "s", "m", "forked"); err != nil {
		t.Fatal(err)
	}
	_, rc, err := f.repo.OpenFile(background, f.get("forked").Fork.Checkpoint, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	text := make([]byte, 2)
	if _, err := rc.Read(text); err != nil || string(text) != "1\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestR32_TwoSessionsInOneDirectory: undo in one leaves the other's work.
func TestR32_TwoSessionsInOneDirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n"), "shell": gittest.File("1\n")})
	f.begin("A", "m", "1", "a")
	f.begin("B", "m", "1", "b")
	f.write("a", "2\n")
	f.write("b", "2\n")
	f.write("shell", "2\n")
	f.end("A", "1")
	f.end("B", "1")
	f.step("B", "m", "2", func() { f.write("later", "B\n") })
	_, res := f.revert("A", session.Target{Start: true})
	if f.read("a") != "1\n" || f.read("b") != "2\n" || f.read("shell") != "2\n" || f.read("later") != "B\n" {
		t.Errorf("a %q, b %q, shell %q, later %q", f.read("a"), f.read("b"), f.read("shell"), f.read("later"))
	}
	if len(res.Kept) != 1 || res.Kept[0].Path != "b" || len(res.Conflicts) != 1 || res.Conflicts[0].Path != "shell" {
		t.Errorf("%+v", res)
	}
	_, res, err := f.Revert(background, "A", session.Target{Start: true}, session.MoveOptions{OnConflict: cairn.Overwrite})
	if err != nil || f.read("shell") != "1\n" {
		t.Errorf("overwrite: shell %q, %+v, %v", f.read("shell"), res, err)
	}
}

// TestR58_Fork: the fork has the steps before the message and can revert them.
func TestR58_Fork(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	if _, err := f.Begin(background, session.SessionBegin{ID: "s", Title: "work"}); err != nil {
		t.Fatal(err)
	}
	f.step("s", "m1", "1", func() { f.write("a", "2\n") })
	f.step("s", "m2", "2", func() { f.write("a", "3\n") })
	fork, err := f.Fork(background, "s", "m2", "f")
	if err != nil {
		t.Fatal(err)
	}
	if fork.Messages != 1 || fork.Title != "work (fork #1)" || fork.Fork.Session != "s" || f.read("a") != "3\n" {
		t.Errorf("%+v %+v", fork, fork.Fork)
	}
	if _, err := f.Fork(background, "s", "m2", "f"); err != nil {
		t.Errorf("again: %v", err)
	}
	if _, err := f.Fork(background, "s", "m1", "f"); !errors.Is(err, cairn.ErrExists) {
		t.Errorf("%v", err)
	}
	if _, err := f.repo.Restore(background, fork.Fork.Checkpoint, cairn.RestoreOptions{}); err != nil || f.read("a") != "2\n" {
		t.Fatalf("a %q, %v", f.read("a"), err)
	}
	f.step("f", "m2", "2", func() { f.write("b", "1\n") })
	if s, _ := f.revert("f", session.Target{Start: true}); f.read("a") != "1\n" || f.read("b") != "(absent)" || s.Messages != 0 {
		t.Errorf("a %q, b %q, %+v", f.read("a"), f.read("b"), s)
	}
	if err := f.Delete(background, "s"); err != nil {
		t.Fatal(err)
	}
	f.reopen()
	if _, _, err := f.Unrevert(background, "f", session.MoveOptions{}); err != nil || f.read("a") != "2\n" {
		t.Errorf("a %q, %v", f.read("a"), err)
	}
	gittest.NewOracle(t).Fsck(f.repo.StoreDir())
}

// TestR95_TheAgentWasKilled: the next step closes the open one; a revert can, too.
func TestR95_TheAgentWasKilled(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.begin("s", "m1", "1")
	f.write("a", "2\n")
	f.begin("s", "m2", "2")
	list, err := f.History(background, "s")
	if err != nil || list[0].Steps[0].Open() || len(list[0].Steps[0].Patch.Files) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	f.write("a", "3\n")
	if _, _, err := f.Revert(background, "s", session.Target{Start: true}, session.MoveOptions{}); !errors.Is(err, session.ErrBusy) {
		t.Errorf("%v", err)
	}
	_, dry, err := f.Revert(background, "s", session.Target{Start: true}, session.MoveOptions{EndOpen: true, DryRun: true})
	if err != nil || len(dry.Plan) != 1 || f.get("s").Open != "2" {
		t.Errorf("%+v, %v", dry, err)
	}
	s, _, err := f.Revert(background, "s", session.Target{Message: "m2"}, session.MoveOptions{EndOpen: true})
	if err != nil || f.read("a") != "2\n" || s.Open != "" {
		t.Errorf("a %q, %+v, %v", f.read("a"), s, err)
	}
}

// TestR113_IDsAreOpaque: any text is an id, and no two are mixed up.
func TestR113_IDsAreOpaque(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	ids := []string{
		"abc########0", "../x", "..", ".", "/", "a/b", "a//b", "A", "a", "\x00", "a\x00b", "con", "x.lock", "-x", "é", "e\u0301", "@{0}", "~^:?*[\\", " ", "\n",
		strings.Repeat("x", session.MaxID), strings.Repeat("x", session.MaxID-1) + "y", strings.Repeat("/", session.MaxID), "refs/heads/main", "HEAD", "=41", "%41",
	}
	for _, id := range ids {
		f.step(id, id, id, func() { f.write("a", f.read("a")+".") })
	}
	f.reopen()
	all, err := f.List(background)
	if err != nil || len(all) != len(ids) {
		t.Fatalf("%d of %d, %v", len(all), len(ids), err)
	}
	for _, id := range ids {
		if s := f.get(id); s.ID != id || s.Steps != 1 {
			t.Errorf("%q: %+v", id, s)
		}
	}
	for _, id := range []string{"", "\xff", strings.Repeat("x", 10_000)} {
		if _, err := f.Begin(background, session.SessionBegin{ID: id}); !errors.Is(err, session.ErrID) {
			t.Errorf("%.20q: %v", id, err)
		}
		if _, err := f.Get(background, id); !errors.Is(err, session.ErrID) {
			t.Errorf("get %.20q: %v", id, err)
		}
	}
	gittest.NewOracle(t).Fsck(f.repo.StoreDir())
}

// TestR114_TheSameEventTwice is one.
func TestR114_TheSameEventTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	for range 2 {
		if _, err := f.Begin(background, session.SessionBegin{ID: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	one := f.begin("s", "m", "1")
	f.write("a", "2\n")
	if two := f.begin("s", "m", "1"); two.Before != one.Before {
		t.Errorf("%+v, then %+v", one, two)
	}
	end := f.end("s", "1")
	f.write("a", "3\n")
	if again := f.end("s", "1"); again.After != end.After {
		t.Errorf("%+v, then %+v", end, again)
	}
	if late := f.begin("s", "m", "1"); late.Open() || late.After != end.After {
		t.Errorf("%+v", late)
	}
	for range 2 {
		m := session.MessageBegin{Session: "s", Message: "n", Parts: []session.Part{{ID: "p", Type: session.PartText}}}
		if got, err := f.AddMessage(background, m); err != nil || len(got.Parts) != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if s := f.get("s"); s.Messages != 2 || s.Steps != 1 {
		t.Errorf("%+v", s)
	}
}

// TestR118_UnknownThings are errors.
func TestR118_UnknownThings(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("s", "m", "1", func() { f.write("a", "2\n") })
	_, _, message := f.Revert(background, "s", session.Target{Message: "x"}, session.MoveOptions{})
	_, _, part := f.Revert(background, "s", session.Target{Message: "m", Part: "x"}, session.MoveOptions{})
	_, _, none := f.Revert(background, "s", session.Target{}, session.MoveOptions{})
	_, _, sess := f.Revert(background, "x", session.Target{Message: "m"}, session.MoveOptions{})
	_, _, redo := f.RedoTurn(background, "s", session.MoveOptions{})
	_, step := f.EndStep(background, session.StepEnd{Session: "s", Step: "x"})
	_, open := f.EndStep(background, session.StepEnd{Session: "s"})
	_, fork := f.Fork(background, "s", "x", "new")
	_, history := f.History(background, "x")
	_, changes := f.Changes(background, "s", session.Scope{Message: "x"})
	for i, err := range []error{message, part, none, sess, redo, step, open, fork, history, changes, f.Delete(background, "x"), f.Hint(background, "s", "x", []string{"a"})} {
		if !errors.Is(err, session.ErrNotFound) || !errors.Is(err, cairn.ErrNotFound) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if f.read("a") != "2\n" {
		t.Error("something was done")
	}
}

// TestR122_DiffOfAWholeSession: and of a message, and of a step.
func TestR122_DiffOfAWholeSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("a", "2\n") })
	f.step("s", "m1", "2", func() { f.write("a", "3\n") })
	f.write("b", "user\n")
	f.step("s", "m2", "3", func() { f.write("c", "c\n") })
	f.step("s", "m2", "4", func() { f.remove("c") })
	for _, c := range []struct {
		in   session.Scope
		want []string
	}{
		{session.Scope{}, []string{"a 1 3"}},
		{session.Scope{Message: "m1"}, []string{"a 1 3"}},
		{session.Scope{Step: "2"}, []string{"a 2 3"}},
		{session.Scope{Message: "m2"}, nil},
		{session.Scope{Message: "m2", Step: "3"}, []string{"c  c"}},
	} {
		var got []string
		for d, err := range f.Diff(background, "s", c.in, cairn.DiffOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.TrimSpace(string(d.File)+" "+strings.TrimSpace(d.Before)+" "+strings.TrimSpace(d.After)))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.in, got, c.want)
		}
	}
}

// TestR126_HostMetadata comes back as it was given.
func TestR126_HostMetadata(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{})
	meta := map[string]string{"tool": "edit", "callID": "c\x001", "": "empty key"}
	if _, err := f.BeginStep(background, session.StepBegin{Session: "s", Message: "m", Step: "1", Prompt: "do <it>", Meta: meta}); err != nil {
		t.Fatal(err)
	}
	f.reopen()
	list, err := f.History(background, "s")
	if err != nil || list[0].Prompt != "do <it>" || len(list[0].Steps[0].Meta) != 3 || list[0].Steps[0].Meta["callID"] != "c\x001" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := f.Begin(background, session.SessionBegin{ID: "t", Meta: map[string]string{"k": strings.Repeat("x", session.MaxMeta)}}); err == nil {
		t.Error("any amount of metadata is taken")
	}
}
