package session_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// resume goes on with the session "s-1".
func (f *fixture) resume() *cairn.Result {
	f.Helper()
	res, err := f.Resume(background, "s-1", cairn.RestoreOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return res
}

// has checks the messages of the session "s-1", and that it is one of this store.
func (f *fixture) has(want ...string) {
	f.Helper()
	if s, err := f.Get(background, "s-1"); err != nil || s.Fetched != nil {
		f.Errorf("session %+v, %v", s, err)
	}
	f.shows(want...)
}

// shows checks the messages of the session "s-1".
func (f *fixture) shows(want ...string) {
	f.Helper()
	messages, err := f.History(background, "s-1")
	var ids []string
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	if err != nil || strings.Join(ids, " ") != strings.Join(want, " ") {
		f.Errorf("messages %q, %v, want %q", ids, err, want)
	}
}

// A session that was only resumed here goes on with what the other machine did since, again and again, and
// every state before is there. The remote takes each push under the same name.
func TestResumeAgain(t *testing.T) {
	t.Parallel()
	f, g, remote := resumed(t)
	g.sent(remote)
	for i, name := range []string{"b", "c", "d"} {
		f.turn("s-1", "m-"+name, "There", name, name+"\n")
		f.sent(remote)
		g.got(remote)
		g.write("own", "mine\n")
		if res := g.resume(); len(res.Deleted) != 1 {
			t.Errorf("resume %d: %+v", i, res)
		}
		g.is(name, name+"\n")
		g.sent(remote)
		if refs := gittest.NewOracle(t).In(remote, "for-each-ref", "--format=%(refname)"); strings.Count(refs, "/sessions/") != 2 {
			t.Errorf("lines there:\n%s", refs)
		}
	}
	g.has("m-1", "m-b", "m-c", "m-d")
	g.reopen()
	g.has("m-1", "m-b", "m-c", "m-d")
	if _, err := g.repo.Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	g.is("own", "mine\n")
	f.got(remote)
	f.resume()
	f.has("m-1", "m-b", "m-c", "m-d")
	gittest.NewOracle(t).Fsck(g.repo.StoreDir())
	if rep, err := g.repo.Verify(background, cairn.VerifyOptions{}); err != nil || !rep.Sound {
		t.Errorf("verify %+v, %v", rep, err)
	}
}

// The other machine has only resumed the session: this one goes on with its own turns, and the other one with these.
func TestResumeAfterAResumeElsewhere(t *testing.T) {
	t.Parallel()
	f, g, remote := resumed(t)
	g.sent(remote)
	f.turn("s-1", "m-2", "There", "b", "2\n")
	f.got(remote)
	f.resume()
	f.is("b", "2\n")
	f.has("m-1", "m-2")
	f.turn("s-1", "m-3", "There", "c", "3\n")
	f.sent(remote)
	g.got(remote)
	g.resume()
	g.has("m-1", "m-2", "m-3")
	g.turn("s-1", "m-4", "Here", "d", "4\n")
	g.sent(remote)
	f.got(remote)
	f.resume()
	f.has("m-1", "m-2", "m-3", "m-4")
	f.is("d", "4\n")
}

// A third machine goes on with the turns, and not with a resume that came after them.
func TestResumeOnAThirdMachine(t *testing.T) {
	t.Parallel()
	remote := remoteOf(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.turn("s-1", "m-1", "Fix the login", "a", "2\n")
	g, h := f.machine(gittest.Tree{}), f.machine(gittest.Tree{})
	f.sent(remote)
	g.got(remote)
	f.turn("s-1", "m-2", "And the logout", "b", "3\n")
	g.resume() // before it knows of m-2
	g.sent(remote)
	f.sent(remote)
	if _, _, err := h.repo.FetchSession(background, remote, "@"); err != nil {
		t.Fatal(err)
	}
	h.shows("m-1", "m-2")
	if list, err := h.List(background); err != nil || len(list) != 1 || list[0].Messages != 2 {
		t.Errorf("list %+v, %v", list, err)
	}
	h.resume()
	h.is("b", "3\n")
	h.sent(remote)
	g.got(remote)
	g.resume()
	g.has("m-1", "m-2")
	g.turn("s-1", "m-3", "Go on", "c", "4\n")
	g.sent(remote)
	for _, m := range []*fixture{f, h} {
		m.got(remote)
		m.resume()
		m.has("m-1", "m-2", "m-3")
		m.is("c", "4\n")
	}
}

// A prompt is work of this machine, also one without a step: nothing is done, and the error says what is here.
func TestResumeWithAPrompt(t *testing.T) {
	t.Parallel()
	f, g, remote := resumed(t)
	if _, err := g.AddMessage(background, session.MessageBegin{Session: "s-1", Message: "m-2", Role: session.RoleUser, Prompt: "Here"}); err != nil {
		t.Fatal(err)
	}
	f.turn("s-1", "m-3", "There", "c", "4\n")
	f.sent(remote)
	g.got(remote)
	_, err := g.Resume(background, "s-1", cairn.RestoreOptions{})
	if !errors.Is(err, cairn.ErrExists) || !strings.Contains(err.Error(), "it went on here (1 prompt) and at ") {
		t.Errorf("resumed: %v", err)
	}
	g.has("m-1", "m-2")
}

// So is a turn that was taken back here.
func TestResumeWithARevert(t *testing.T) {
	t.Parallel()
	f, g, remote := resumed(t)
	if _, _, err := g.UndoTurn(background, "s-1", session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	f.turn("s-1", "m-2", "There", "c", "4\n")
	f.sent(remote)
	g.got(remote)
	_, err := g.Resume(background, "s-1", cairn.RestoreOptions{})
	if !errors.Is(err, cairn.ErrExists) || !strings.Contains(err.Error(), "it went on here (1 revert) and at ") {
		t.Errorf("resumed: %v", err)
	}
	g.is("a", "1\n")
}

// What an agent adds to a session when it begins is no work of its own.
func TestResumeAgainAfterABegin(t *testing.T) {
	t.Parallel()
	f, g, remote := resumed(t)
	if _, err := g.Begin(background, session.SessionBegin{ID: "s-1", Title: "Login", Meta: map[string]string{"agent": "x"}}); err != nil {
		t.Fatal(err)
	}
	f.turn("s-1", "m-2", "There", "c", "4\n")
	f.sent(remote)
	g.got(remote)
	g.resume()
	g.has("m-1", "m-2")
}

// A session that goes to and fro keeps one line of the other machine.
func TestResumeToAndFro(t *testing.T) {
	t.Parallel()
	f, g, remote := resumed(t)
	for _, name := range []string{"2", "3", "4", "5"} {
		g.turn("s-1", "m-"+name, "Go on", "a", name+"\n")
		g.sent(remote)
		f.got(remote)
		f.resume()
		f, g = g, f
	}
	for _, m := range []*fixture{f, g} {
		if refs := gittest.NewOracle(t).In(m.repo.StoreDir(), "for-each-ref", "--format=%(refname)", "refs/cairn/remotes/"); strings.Count(refs, "/sessions/") != 1 {
			t.Errorf("fetched lines:\n%s", refs)
		}
	}
}

// The other directories of a session are those of a machine: a session that goes on elsewhere, or a fork of it, has none
// there, and has them again at home.
func TestResumeLeavesOtherRoots(t *testing.T) {
	t.Parallel()
	remote := remoteOf(t)
	r := newRoots(t, gittest.Tree{"a": gittest.File("1\n")}, gittest.Tree{"b": gittest.File("1\n")})
	r.turn("s", "m-1", "One", "a", "2\n")
	g := r.machine(gittest.Tree{})
	r.sent(remote)
	g.got(remote)
	if s, err := g.Fork(background, "s", "", "fork"); err != nil || len(s.Further)+len(s.Missing) > 0 {
		t.Errorf("fork %+v, %v", s, err)
	}
	if _, err := g.Resume(background, "s", cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if s, err := g.Get(background, "s"); err != nil || len(s.Further) > 0 {
		t.Errorf("session %+v, %v", s, err)
	}
	if _, _, err := g.UndoTurn(background, "s", session.MoveOptions{}); err != nil {
		t.Error(err)
	}
	g.turn("s", "m-2", "Two", "a", "3\n")
	g.sent(remote)
	r.got(remote)
	if _, err := r.Resume(background, "s", cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if s, err := r.Get(background, "s"); err != nil || len(s.Further) != 1 {
		t.Errorf("session %+v, %v", s, err)
	}
}

// A purge on the first machine rewrites the line: the other machine goes on with it as before, and the purged file does
// not come back by it.
func TestResumeAfterAPurgeElsewhere(t *testing.T) {
	t.Parallel()
	f, g, remote := resumed(t)
	f.turn("s-1", "m-2", "Write it down", "token", "secret\n")
	f.sent(remote)
	g.got(remote)
	g.resume()
	g.sent(remote)
	if _, err := f.repo.Purge(background, []string{"token"}); err != nil {
		t.Fatal(err)
	}
	f.sent(remote)
	g.got(remote)
	g.resume() // nothing but the purge is new
	g.has("m-1", "m-2")
	f.turn("s-1", "m-3", "Go on", "c", "3\n")
	f.sent(remote)
	g.got(remote)
	g.resume()
	g.is("c", "3\n")
	g.has("m-1", "m-2", "m-3")
	g.reopen()
	g.turn("s-1", "m-4", "And on", "d", "4\n")
	g.sent(remote)
	f.got(remote)
	f.resume()
	f.is("d", "4\n")
	f.has("m-1", "m-2", "m-3", "m-4")
	for _, m := range []*fixture{f, g} {
		if rep, err := m.repo.Verify(background, cairn.VerifyOptions{}); err != nil || !rep.Sound {
			t.Errorf("verify %+v, %v", rep, err)
		}
	}
}

// The other machine goes on before it hears of the purge: it goes on with its own, and the machine of the purge says what
// is to be done there.
func TestResumeBesideAPurge(t *testing.T) {
	t.Parallel()
	f, g, remote := resumed(t)
	f.turn("s-1", "m-2", "Write it down", "token", "secret\n")
	f.sent(remote)
	g.got(remote)
	g.resume()
	g.turn("s-1", "m-3", "Here", "c", "3\n")
	if _, err := f.repo.Purge(background, []string{"token"}); err != nil {
		t.Fatal(err)
	}
	f.sent(remote)
	g.got(remote)
	g.resume()
	g.is("c", "3\n")
	g.has("m-1", "m-2", "m-3")
	g.sent(remote)
	f.got(remote)
	_, err := f.Resume(background, "s-1", cairn.RestoreOptions{})
	if !errors.Is(err, cairn.ErrExists) || !strings.Contains(err.Error(), "what was purged here is still in its line at") {
		t.Errorf("resumed: %v", err)
	}
	if _, err := g.repo.Purge(background, []string{"token"}); err != nil {
		t.Fatal(err)
	}
	g.sent(remote)
	f.got(remote)
	f.resume()
	f.is("c", "3\n")
	f.has("m-1", "m-2", "m-3")
	f.turn("s-1", "m-4", "There", "e", "5\n")
	g.turn("s-1", "m-5", "Here", "e", "6\n")
	g.sent(remote)
	f.got(remote)
	if _, err := f.Resume(background, "s-1", cairn.RestoreOptions{}); err == nil || !strings.Contains(err.Error(), "since they parted") {
		t.Errorf("resumed: %v", err)
	}
}
