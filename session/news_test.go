package session_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// news takes the news of a session.
func (f *fixture) news(id string) *session.News {
	f.Helper()
	n, err := f.TakeNews(background, id)
	if err != nil {
		f.Fatal(err)
	}
	return n
}

func (f *fixture) noNews(id, when string) {
	f.Helper()
	if n := f.news(id); n != nil {
		f.Errorf("%s, session %s: %+v", when, id, n)
	}
}

// moves carries calls out that must not fail.
func (f *fixture) moves(calls ...func() error) {
	f.Helper()
	for _, call := range calls {
		if err := call(); err != nil {
			f.Fatal(err)
		}
	}
}

func (f *fixture) undoTurn(id string) func() error {
	return func() error { _, _, err := f.UndoTurn(background, id, session.MoveOptions{}); return err }
}

func (f *fixture) redoTurn(id string) func() error {
	return func() error { _, _, err := f.RedoTurn(background, id, session.MoveOptions{}); return err }
}

func (f *fixture) goOn(id, message string) func() error {
	return func() error {
		_, err := f.AddMessage(background, session.MessageBegin{Session: id, Message: message, Role: session.RoleUser, Prompt: "prompt of " + message})
		return err
	}
}

func turnIDs(turns []session.MovedTurn) (ids []string) {
	for _, t := range turns {
		ids = append(ids, t.Message)
	}
	return ids
}

// newsFixture has a session "s" of two turns, beside a session "other" with one.
func newsFixture(t *testing.T) *fixture {
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.agentStep("other", "o1", "o", "make other", func() { f.write("other", "1") })
	f.agentStep("s", "m1", "1", "make b", func() { f.write("b", "1"); f.write("a", "2") })
	f.agentStep("s", "m2", "2", "rm a", func() { f.remove("a"); f.write("c", "1") })
	f.noNews("s", "nothing went back")
	return f
}

// TestNewsOnce: what an undo took back is told once, to its own session alone, also by another
// process.
func TestNewsOnce(t *testing.T) {
	t.Parallel()
	f := newsFixture(t)
	f.moves(f.undoTurn("s"))
	f.reopen()
	f.noNews("other", "after an undo elsewhere")
	want := &session.News{TakenBack: []session.MovedTurn{{Message: "m2", Prompt: "prompt of m2", Files: 2}}, Restored: []string{"a"}, Deleted: []string{"c"}}
	if n := f.news("s"); !reflect.DeepEqual(n, want) {
		t.Errorf("%+v", n)
	}
	f.reopen()
	f.noNews("s", "told before")
	f.noNews("none", "no session")
}

// TestNewsAreNet: what went back and forth is no news; what goes back further is told alone.
func TestNewsAreNet(t *testing.T) {
	t.Parallel()
	f := newsFixture(t)
	f.moves(f.undoTurn("s"), f.redoTurn("s"))
	f.noNews("s", "undo and redo")
	f.moves(f.undoTurn("s"))
	f.news("s")
	f.moves(f.undoTurn("s"))
	if n := f.news("s"); !slices.Equal(turnIDs(n.TakenBack), []string{"m1"}) || !slices.Equal(n.Restored, []string{"a"}) || !slices.Equal(n.Deleted, []string{"b"}) {
		t.Errorf("%+v", n)
	}
	f.moves(f.redoTurn("s"), f.redoTurn("s"))
	if n := f.news("s"); len(n.TakenBack) != 0 || !slices.Equal(turnIDs(n.BroughtBack), []string{"m1", "m2"}) || !slices.Equal(n.Deleted, []string{"a"}) {
		t.Errorf("%+v", n)
	}
}

// TestNewsOutliveTheRevert: a step that makes an undo final does not take the news along, and a redo
// stays possible after they are told.
func TestNewsOutliveTheRevert(t *testing.T) {
	t.Parallel()
	f := newsFixture(t)
	f.moves(f.undoTurn("s"))
	f.news("s")
	if s, err := f.Get(background, "s"); err != nil || s.Revert == nil {
		t.Fatalf("the news made the revert final: %+v, %v", s, err)
	}
	f.moves(f.undoTurn("s"), f.goOn("s", "m3"))
	f.reopen()
	if n := f.news("s"); !slices.Equal(turnIDs(n.TakenBack), []string{"m1"}) || n.TakenBack[0].Prompt != "prompt of m1" {
		t.Errorf("%+v", n)
	}
	f.noNews("s", "told before")
}

// TestNewsOfOperations: a restore in a shell is news to the sessions whose paths it changed, and an
// undo of a session's own way back is news to that session.
func TestNewsOfOperations(t *testing.T) {
	t.Parallel()
	f := newsFixture(t)
	here, err := f.repo.Track(background, cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.write("mine", "1")
	f.moves(func() error {
		_, err := f.repo.Restore(background, here.Checkpoint, cairn.RestoreOptions{})
		return err
	})
	f.noNews("s", "a restore of a file that no session knows")
	f.write("other", "2")
	f.moves(func() error {
		_, err := f.repo.Restore(background, here.Checkpoint, cairn.RestoreOptions{})
		return err
	})
	f.noNews("s", "a restore of another session's file")
	if n := f.news("other"); !slices.Equal(n.Others, []string{"restore"}) || !slices.Equal(n.Restored, []string{"other"}) {
		t.Errorf("%+v", n)
	}
	f.moves(f.undoTurn("s"))
	f.news("s")
	f.moves(func() error { _, err := f.repo.Undo(background, cairn.RevertOptions{}); return err })
	if n := f.news("s"); !slices.Equal(turnIDs(n.BroughtBack), []string{"m2"}) || !slices.Equal(n.Deleted, []string{"a"}) || len(n.Others) != 0 {
		t.Errorf("%+v", n)
	}
	f.noNews("other", "an undo of another session's way back")
}

// TestNewsLeaveTheOrder: being told is no event of a session, which would become the newest by it.
func TestNewsLeaveTheOrder(t *testing.T) {
	t.Parallel()
	f := newsFixture(t)
	f.moves(f.undoTurn("s"), f.goOn("other", "o2"))
	f.news("s")
	if id, err := f.Find(background, session.Newest); err != nil || id != "other" {
		t.Errorf("%s, %v", id, err)
	}
}

// TestNewsOfPathsChangedLater: a restore of a path that the session has not changed is no news, also
// when the session changes that path after the next prompt.
func TestNewsOfPathsChangedLater(t *testing.T) {
	t.Parallel()
	f := newsFixture(t)
	before, err := f.repo.Lookup(background, "@")
	if err != nil {
		t.Fatal(err)
	}
	f.write("mine", "1")
	if _, err := f.repo.Restore(background, before.ID, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	f.noNews("s", "a restore of another path")
	f.agentStep("s", "m3", "3", "make mine", func() { f.write("mine", "2") })
	f.noNews("s", "the path was changed after the restore")
	f.moves(f.undoTurn("s"))
	if n := f.news("s"); n == nil || !slices.Equal(turnIDs(n.TakenBack), []string{"m3"}) || !slices.Equal(n.Deleted, []string{"mine"}) {
		t.Errorf("%+v", n)
	}
}
