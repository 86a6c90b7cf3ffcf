package session_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/session"
)

// spoil adds a record to a session that cannot be read.
func (f *fixture) spoil(id, record string) {
	f.Helper()
	err := access.Lines(f.repo).Update(background, func(u *operation.LineUpdate) error {
		_, err := u.Append(background, id, operation.LineAppend{Record: json.RawMessage(record), Message: "spoiled"})
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
}

// TestOneUnreadableSession: the others are listed, shown, reverted and undone.
func TestOneUnreadableSession(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		record string
		want   error
	}{
		"no record":          {`"text"`, cairn.ErrCorrupt},
		"of a later release": {`{"v":99}`, cairn.ErrStore},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
			f.step("good", "m", "1", func() { f.write("a", "2\n"); f.write("b", "2\n") })
			f.step("bad", "m", "1", func() { f.write("c", "1\n") })
			f.spoil("bad", c.record)
			f.reopen()
			list, unread, err := f.ListAll(background)
			if err != nil || len(list) != 1 || list[0].ID != "good" || len(unread) != 1 || unread[0].ID != "bad" || !errors.Is(unread[0].Err, c.want) {
				t.Errorf("%+v, %+v, %v", list, unread, err)
			}
			if id, err := f.Find(background, "ba"); id != "bad" || err != nil {
				t.Errorf("found %q, %v", id, err)
			}
			if _, err := f.Get(background, "bad"); !errors.Is(err, c.want) {
				t.Errorf("%v", err)
			}
			if s := f.get("good"); s.Summary.Files != 2 {
				t.Errorf("%+v", s.Summary)
			}
			if _, res := f.revert("good", session.Target{Message: "m"}); !res.Complete() || f.read("a") != "1\n" || f.read("c") != "1\n" {
				t.Errorf("%+v", res)
			}
			f.unrevert("good")
			for e, err := range f.Checkpoints(background, session.LogOptions{}) {
				if err != nil {
					t.Error(e, err)
				}
			}
			for e, err := range f.Checkpoints(background, session.LogOptions{Text: regexp.MustCompile("nothing has this")}) {
				t.Error(e, err)
			}
			for _, path := range []string{"a", "c"} {
				if _, err := f.Blame(background, path, cairn.BlameOptions{}); err != nil {
					t.Errorf("blame of %s: %v", path, err)
				}
			}
			if open, err := f.OpenSteps(background); len(open) > 0 || err != nil {
				t.Errorf("%+v, %v", open, err)
			}
			if err := f.Delete(background, "bad"); err != nil {
				t.Error(err)
			}
			if list, unread, err := f.ListAll(background); err != nil || len(list) != 1 || len(unread) > 0 {
				t.Errorf("%+v, %+v, %v", list, unread, err)
			}
		})
	}
}

// TestAnUnreadableSessionMayHaveWorked: what it may have changed during a turn of another stays, unless the tools of
// that turn named it.
func TestAnUnreadableSessionMayHaveWorked(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	f.begin("bad", "m", "1")
	f.step("good", "m", "1", func() { f.write("a", "2\n"); f.write("b", "2\n") }, "a")
	f.spoil("bad", `"text"`)
	f.reopen()
	_, res := f.revert("good", session.Target{Message: "m"})
	if len(res.Conflicts) != 1 || res.Conflicts[0].Path != "b" || !strings.Contains(res.Conflicts[0].Reason, "session bad (it cannot be read") || f.read("a") != "1\n" {
		t.Errorf("%+v", res)
	}
	f.unrevert("good")
	_, res, err := f.Revert(background, "good", session.Target{Message: "m"}, session.MoveOptions{OnConflict: cairn.Overwrite})
	if err != nil || f.read("b") != "1\n" {
		t.Errorf("insisting: %+v, %v", res, err)
	}
}

// TestAnUnreadableChild: the turn of its parent goes back without its work.
func TestAnUnreadableChild(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	f.begin("good", "m", "1", "a")
	if _, err := f.Begin(background, session.SessionBegin{ID: "bad", Parent: "good"}); err != nil {
		t.Fatal(err)
	}
	f.step("bad", "m", "1", func() { f.write("b", "2\n") })
	f.write("a", "2\n")
	f.end("good", "1")
	f.spoil("bad", `"text"`)
	f.reopen()
	_, res := f.revert("good", session.Target{Message: "m"})
	if f.read("a") != "1\n" || f.read("b") != "2\n" || len(res.Conflicts) != 1 {
		t.Errorf("%+v", res)
	}
}
