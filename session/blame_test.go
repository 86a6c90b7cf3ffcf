package session_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// writers lists the lines of a file with their authors: the user, or session and step. Further
// steps that may have written a line come after a '|'.
func (f *fixture) writers(path string) string {
	f.Helper()
	b, err := f.Blame(background, path, cairn.BlameOptions{})
	if err != nil {
		f.Fatal(err)
	}
	var out []string
	for _, l := range b.Lines {
		o := &b.Origins[l.Origin]
		text := l.Text + "=" + o.Author
		if o.Work != nil {
			text = fmt.Sprintf("%s=%s/%s", l.Text, o.Work.Session, o.Work.Step)
		}
		for _, other := range o.Others {
			text += fmt.Sprintf("|%s/%s", other.Session, other.Step)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func (f *fixture) wantWriters(path, want string) {
	f.Helper()
	if got := f.writers(path); got != want {
		f.Errorf("%s is %q, want %q", path, got, want)
	}
}

// TestBlameOfOverlappingSteps: a line belongs to the step whose tools named the file; with none or
// several of them, all are told.
func TestBlameOfOverlappingSteps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File(""), "g": gittest.File("")})
	f.begin("a", "m", "1", "f")
	f.write("f", "one\n")
	f.begin("b", "m", "2")
	f.write("f", "one\ntwo\n")
	f.write("g", "g\n")
	f.end("b", "2")
	f.end("a", "1")
	f.wantWriters("f", "one=a/1 two=a/1")
	f.wantWriters("g", "g=b/2|a/1")

	f.begin("a", "m2", "3", "f")
	f.begin("b", "m2", "4", "f")
	f.write("f", "one\ntwo\nthree\n")
	f.end("a", "3")
	f.write("f", "one\ntwo\nthree\nfour\n")
	f.end("b", "4")
	f.wantWriters("f", "one=a/1 two=a/1 three=a/3|b/4 four=b/4")
}

// TestBlameOfSubAgents: while a sub-agent works, the step of its parent is open, too.
func TestBlameOfSubAgents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("")})
	f.begin("a", "m", "1")
	if _, err := f.Begin(background, session.SessionBegin{ID: "sub", Parent: "a"}); err != nil {
		t.Fatal(err)
	}
	f.write("f", "parent\n")
	f.step("sub", "m", "s", func() { f.write("f", "parent\nchild\n") })
	f.write("f", "parent\nchild\nlate\n")
	f.end("a", "1")
	f.wantWriters("f", "parent=a/1 child=sub/s late=a/1")
}

// TestBlameOfLateChanges: the changes of a background command between two turns belong to a step of
// their own. A line that only the disk has belongs to the open step.
func TestBlameOfLateChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("")})
	f.step("a", "m", "1", func() { f.write("f", "one\n") })
	f.write("f", "one\ntwo\n")
	if _, err := f.RecordBetween(background, session.StepBetween{Session: "a", Message: "between", Prompt: "after"}); err != nil {
		t.Fatal(err)
	}
	f.write("f", "one\ntwo\nmine\n")
	f.begin("a", "m2", "3")
	f.write("f", "one\ntwo\nmine\nnow\n")
	b, err := f.Blame(background, "f", cairn.BlameOptions{})
	if err != nil {
		t.Fatal(err)
	}
	last := b.Origins[b.Lines[3].Origin]
	if last.Checkpoint != "" || last.Work == nil || last.Work.Step != "3" {
		t.Errorf("the line on disk is %+v", last)
	}
	if of := b.Origins[b.Lines[1].Origin]; of.Work == nil || of.Work.Message != "between" || of.Work.Prompt != "after" {
		t.Errorf("the late line is %+v", of)
	}
	if got := f.writers("f"); !strings.HasPrefix(got, "one=a/1 ") || !strings.HasSuffix(got, " mine=user now=a/3") {
		t.Errorf("f is %q", got)
	}
	f.end("a", "3")
}

// TestBlameOfAbandonedStep: after the last state of a step whose agent is gone, the user writes.
func TestBlameOfAbandonedStep(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("")})
	f.begin("a", "m", "1")
	f.write("f", "one\n")
	if err := f.Hint(background, "a", "1", []string{"f"}); err != nil {
		t.Fatal(err)
	}
	f.write("f", "one\nmine\n")
	if _, err := f.EndStep(background, session.StepEnd{Session: "a", Step: "1", Gone: true}); err != nil {
		t.Fatal(err)
	}
	f.wantWriters("f", "one=a/1 mine=user")
	if _, err := f.repo.Track(background, cairn.TrackOptions{}); err != nil {
		t.Fatal(err)
	}
	f.wantWriters("f", "one=a/1 mine=user")
}

// TestBlameOfTakenBackStep: a step that left its session keeps its lines where an undo brings them
// back, with its prompt. The next step may have its id.
func TestBlameOfTakenBackStep(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("zero\n")})
	begin := func(message, prompt, path, text string) {
		t.Helper()
		_, err := f.BeginStep(background, session.StepBegin{
			Session: "a", Message: message, Role: session.RoleUser, Step: "1", Prompt: prompt, Meta: map[string]string{session.MetaTool: "Tool of " + message},
		})
		if err != nil {
			t.Fatal(err)
		}
		f.write(path, text)
		f.end("a", "1")
	}
	begin("m", "first", "f", "zero\none\n")
	f.revert("a", session.Target{Message: "m"})
	begin("m2", "second", "g", "two\n")
	if _, err := f.repo.Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	b, err := f.Blame(background, "f", cairn.BlameOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Lines) != 2 {
		t.Fatalf("f is %q", f.read("f"))
	}
	w := b.Origins[b.Lines[1].Origin].Work
	if w == nil || w.Message != "m" || w.Prompt != "first" || !slices.Equal(w.Calls, []session.Call{{Tool: "Tool of m"}}) {
		t.Errorf("work is %+v", w)
	}
	if err := f.Delete(background, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Blame(background, "f", cairn.BlameOptions{}); err != nil {
		t.Errorf("without the session: %v", err)
	}
	if _, err := f.Blame(background, "none", cairn.BlameOptions{}); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestBlameLeavesEndedSessionsClosed: a session that has no open step wrote no later line, so that its history is
// not read. A store has hundreds of them, and each line of a file asks about all.
func TestBlameLeavesEndedSessionsClosed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("zero\n"), "g": gittest.File("")})
	for _, id := range []string{"a", "b", "c"} {
		f.step(id, "m", "1", func() { f.write("g", id+"\n") })
	}
	f.begin("d", "m", "1")
	f.reopen()
	f.write("f", "zero\nyours\n")
	if _, err := f.repo.Track(background, cairn.TrackOptions{}); err != nil {
		t.Fatal(err)
	}
	f.writers("f")
	if got := session.Loaded(f.Sessions); !slices.Equal(got, []string{"d"}) {
		t.Errorf("histories of %q were read, want only that of d, whose step is open", got)
	}
}
