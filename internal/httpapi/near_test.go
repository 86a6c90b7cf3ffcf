package httpapi

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

// errElsewhere is the outcome of a call that the server does not carry out.
var errElsewhere = errors.New("elsewhere")

// near are the sessions of a root for a caller in the process of the fixture's server.
func (f *fixture) near(t testing.TB, root string, change ...func(*cairn.Options)) service.Sessions {
	t.Helper()
	opt, err := f.server.opt.Settings(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(&opt)
	}
	return f.server.Near(t.Context(), root, protocol.Settings("test", opt), func() (*session.Sessions, error) { return nil, errElsewhere })
}

// TestNearRecords: requests see all that is recorded without one.
func TestNearRecords(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	ctx, all := t.Context(), f.near(t, f.root)
	if news, err := all.TakeNews(ctx, "s"); news != nil || err != nil {
		t.Errorf("news before the store is there: %+v, %v", news, err)
	}
	if _, err := all.Brief(ctx, "s"); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("a session before the store is there: %v", err)
	}
	if _, err := all.Begin(ctx, session.SessionBegin{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	if _, err := all.AddMessage(ctx, session.MessageBegin{Session: "s", Message: "m", Role: "user", Prompt: "do"}); err != nil {
		t.Fatal(err)
	}
	if _, err := all.BeginStep(ctx, session.StepBegin{Session: "s", Message: "m", Step: "1", Owner: &session.Owner{}}); err != nil {
		t.Fatal(err)
	}
	if err := all.Hint(ctx, "s", "1", []string{"a"}); err != nil {
		t.Fatal(err)
	}
	f.write("a", "2\n")
	st, err := all.EndStep(ctx, session.StepEnd{Session: "s", Step: "1"})
	if err != nil || st.Open() {
		t.Fatalf("%+v, %v", st, err)
	}
	var seen session.Session
	f.call("GET", "/session/s", nil).want(t, 200, &seen)
	if got, err := all.Get(ctx, "s"); err != nil || got.ID != seen.ID || got.Messages != 1 || seen.Messages != 1 || seen.Steps != 1 {
		t.Errorf("%+v, %v; by a request %+v", got, err, seen)
	}
	if _, err := all.Brief(ctx, ""); err == nil {
		t.Error("a session without an id was found")
	}
}

// TestNearElsewhere: other settings, a server without changes, a root that cannot be one and calls that do not
// record leave the work to the caller.
func TestNearElsewhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	elsewhere := func(why string, all service.Sessions, call func(service.Sessions) error) {
		t.Helper()
		if err := call(all); !errors.Is(err, errElsewhere) {
			t.Errorf("%s: %v", why, err)
		}
	}
	begin := func(all service.Sessions) error {
		_, err := all.Begin(t.Context(), session.SessionBegin{ID: "s"})
		return err
	}
	elsewhere("other settings", f.near(t, f.root, func(o *cairn.Options) { o.MaxFileSize = 1 }), begin)
	elsewhere("no root", f.near(t, filepath.Join(f.root, "a")), begin)
	elsewhere("a way back", f.near(t, f.root), func(all service.Sessions) error {
		_, _, err := all.UndoTurn(t.Context(), "s", session.MoveOptions{})
		return err
	})
	elsewhere("a history", f.near(t, f.root), func(all service.Sessions) error {
		_, err := all.History(t.Context(), "s")
		return err
	})
	f.server.opt.ReadOnly = "read only"
	elsewhere("no changes", f.near(t, f.root), begin)
}

// TestNearTicket: the work of a ticket is begun for the roots and settings of Near, and no later than a call that needs it.
func TestNearTicket(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	ctx, all := t.Context(), f.near(t, f.root)
	opt, err := f.server.opt.Settings(f.root)
	if err != nil {
		t.Fatal(err)
	}
	begin := func(root, settings string) (string, error) {
		return f.server.NearTicket(root, settings, &ticket.Request{End: ticket.NewEnd(session.StepEnd{Session: "s", Step: "1"})})
	}
	if _, err := all.BeginStep(ctx, session.StepBegin{Session: "s", Step: "1", Owner: &session.Owner{}}); err != nil {
		t.Fatal(err)
	}
	f.write("a", "2\n")
	same := protocol.Settings("test", opt)
	for _, refused := range [][2]string{{f.root, "others"}, {filepath.Join(f.root, "a"), same}} {
		if id, err := begin(refused[0], refused[1]); id != "" || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%q: %q, %v", refused, id, err)
		}
	}
	if id, err := begin(f.root, same); id == "" || err != nil {
		t.Fatalf("%q, %v", id, err)
	}
	if _, err := all.BeginStep(ctx, session.StepBegin{Session: "s", Step: "2", Owner: &session.Owner{}}); err != nil {
		t.Fatal(err)
	}
	var list []session.Message
	f.call("GET", "/session/s/history", nil).want(t, 200, &list)
	steps := list[len(list)-1].Steps
	if len(steps) != 2 || steps[0].Open() || len(steps[0].Patch.Files) != 1 {
		t.Errorf("%+v", list)
	}
	f.server.opt.ReadOnly = "read only"
	if id, err := begin(f.root, same); id != "" || err == nil {
		t.Errorf("without changes: %q, %v", id, err)
	}
}

// TestNearGoesOn: a call goes on after its own deadline, in an open store, and the server waits for it. A panic in it
// is an error.
func TestNearGoesOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	p, err := f.server.projects.find("")
	if err != nil {
		t.Fatal(err)
	}
	h, err := p.acquire(true)
	if err != nil {
		t.Fatal(err)
	}
	opened := &Project{ID: p.id, Root: p.root, Repo: h.repo, Sessions: h.sessions}
	ctx, cancel := context.WithCancel(t.Context())
	entered, released, ended := make(chan bool), make(chan bool), make(chan error, 1)
	out := make(chan error, 1)
	go func() {
		_, err := opened.patiently(ctx, func(ctx context.Context, all service.Sessions) (any, error) {
			close(entered)
			<-released
			_, err := all.Begin(ctx, session.SessionBegin{ID: "s"})
			ended <- errors.Join(err, ctx.Err())
			return nil, nil
		})
		out <- err
	}()
	<-entered
	cancel()
	if err := <-out; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller waited: %v", err)
	}
	if err := f.server.projects.forget(p.id); err != nil {
		t.Error(err)
	}
	p.release(h)
	close(released)
	f.server.WaitForTickets(t.Context())
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the call was broken off: %v", err)
		}
	default:
		t.Error("the server did not wait for the call")
	}
	_, err = opened.patiently(t.Context(), func(context.Context, service.Sessions) (any, error) { panic("broken") })
	if err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a panic: %v", err)
	}
}

// TestUnknownProject: the error is one line, as the page shows it.
func TestUnknownProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{})
	_, err := f.server.Project(t.Context(), "none")
	if !errors.Is(err, cairn.ErrNotFound) || !strings.HasPrefix(err.Error(), "not found: project none is not registered") {
		t.Errorf("%v", err)
	}
}

// TestForgottenProject: a call that knows a project from before the server forgot it closes its store when it ends.
func TestForgottenProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	p, err := f.server.projects.find("")
	if err == nil {
		err = f.server.projects.forget(p.id)
	}
	if err != nil {
		t.Fatal(err)
	}
	h, err := p.acquire(true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.repo.Track(t.Context(), cairn.TrackOptions{}); err != nil {
		t.Fatal(err)
	}
	p.release(h)
	if p.handle != nil {
		t.Error("the store is still open, and no call closes it")
	}
}
