package client

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/session"
)

// here is the sessions of the store itself. It counts how often it is opened.
func (f *fixture) here(opened *int) func() (*session.Sessions, error) {
	return func() (*session.Sessions, error) {
		*opened++
		repo, err := cairn.Open(f.opt)
		if err != nil {
			return nil, err
		}
		f.t.Cleanup(func() { repo.Close() })
		return session.New(repo), nil
	}
}

// turn records a turn that writes a file.
func (f *fixture) turn(s service.Sessions, id, message, path string) {
	f.t.Helper()
	ctx := f.t.Context()
	if _, err := s.BeginStep(ctx, session.StepBegin{Session: id, Message: message, Role: session.RoleUser, Step: message + "/1", Prompt: "write"}); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.root, path), []byte(message), 0o644); err != nil {
		f.t.Fatal(err)
	}
	if _, err := s.EndStep(ctx, session.StepEnd{Session: id, Step: message + "/1"}); err != nil {
		f.t.Fatal(err)
	}
}

// TestNewsThere: a server tells a session's news, each once, and its state. The store is not opened
// for that.
func TestNewsThere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve()
	path := "new\xff"
	if runtime.GOOS != "linux" {
		path = "new"
	}
	opened, elsewhere := 0, 0
	s, other := NewSessions(f.client(), f.here(&opened)), NewSessions(nil, f.here(&elsewhere))
	ctx, id := t.Context(), "a/b"
	f.turn(s, id, "m", path)
	if n, err := s.TakeNews(ctx, id); n != nil || err != nil {
		t.Errorf("before an undo: %+v, %v", n, err)
	}
	if _, _, err := other.UndoTurn(ctx, id, session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if now, err := s.Brief(ctx, id); err != nil || now.ID != id || now.Revert == nil || now.Summary != nil {
		t.Errorf("%+v, %v", now, err)
	}
	if now, err := s.Get(ctx, id); err != nil || now.ID != id || now.Revert == nil || now.Revert.Message != "m" {
		t.Errorf("%+v, %v", now, err)
	}
	want := &session.News{
		TakenBack: []session.MovedTurn{{Message: "m", Prompt: "write", Files: 1}}, Restored: cairn.Paths{}, Deleted: cairn.Paths{path},
	}
	got, err := s.TakeNews(ctx, id)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (- wanted, + got)\n%s", err, diff)
	}
	for name, tell := range map[string]service.Sessions{"the server": s, "the store": other} {
		if n, err := tell.TakeNews(ctx, id); n != nil || err != nil {
			t.Errorf("%s tells it again: %+v, %v", name, n, err)
		}
	}
	if opened != 0 {
		t.Errorf("the store was opened %d times", opened)
	}
}

// TestNoSessionThere: a session that has not begun has no news, and the beginning of an id names no
// session.
func TestNoSessionThere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve()
	opened := 0
	s := NewSessions(f.client(), f.here(&opened))
	for _, id := range []string{"long", ".", "..", "none"} { // before and after there is a store
		if n, err := s.TakeNews(t.Context(), id); n != nil || err != nil && !errors.Is(err, session.ErrID) {
			t.Errorf("%q: %+v, %v", id, n, err)
		}
	}
	if _, err := s.Begin(t.Context(), session.SessionBegin{ID: "longer"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"long", "@", "none"} {
		if one, err := s.Brief(t.Context(), id); !errors.Is(err, session.ErrNotFound) && !errors.Is(err, session.ErrID) {
			t.Errorf("%q: %+v, %v", id, one, err)
		}
		if one, err := s.Get(t.Context(), id); !errors.Is(err, session.ErrNotFound) && !errors.Is(err, session.ErrID) {
			t.Errorf("%q: %+v, %v", id, one, err)
		}
		if n, err := s.TakeNews(t.Context(), id); n != nil || err != nil && !errors.Is(err, session.ErrID) {
			t.Errorf("%q: %+v, %v", id, n, err)
		}
	}
	if one, err := s.Get(t.Context(), "longer"); err != nil || one.ID != "longer" {
		t.Errorf("%+v, %v", one, err)
	}
	if opened == 0 {
		t.Error("only the server was asked for the beginning of an id")
	}
}
