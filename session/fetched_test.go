package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// machine is a root of its own, with a store of its own, of the project "shop".
func (f *fixture) machine(tree gittest.Tree) *fixture {
	f.Helper()
	g := newFixture(f.T, tree)
	for _, m := range []*fixture{f, g} {
		if err := m.repo.SetProjectID(background, "shop"); err != nil {
			f.Fatal(err)
		}
	}
	return g
}

func remoteOf(t *testing.T) string {
	t.Helper()
	o := gittest.NewOracle(t)
	dir := filepath.Join(t.TempDir(), "fleet.git")
	o.In(filepath.Dir(dir), "init", "-q", "--bare", "--template=", dir)
	return dir
}

// turn is a message with one step that writes a file.
func (f *fixture) turn(id, message, prompt, file, content string) {
	f.Helper()
	_, err := f.AddMessage(background, session.MessageBegin{Session: id, Message: message, Role: session.RoleUser, Prompt: prompt})
	if err != nil {
		f.Fatal(err)
	}
	step := message + "-step"
	if _, err := f.BeginStep(background, session.StepBegin{Session: id, Message: message, Step: step}); err != nil {
		f.Fatal(err)
	}
	f.write(file, content)
	if _, err := f.EndStep(background, session.StepEnd{Session: id, Step: step}); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) sent(remote string) {
	f.Helper()
	if _, err := f.repo.Push(background, remote); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) got(remote string) {
	f.Helper()
	if _, err := f.repo.Fetch(background, remote); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) is(name, want string) {
	f.Helper()
	data, err := os.ReadFile(f.path(name))
	if err != nil || string(data) != want {
		f.Errorf("%s holds %q, %v, want %q", name, data, err, want)
	}
}

// A fetched session is listed, found, shown, compared and forked, with the paths of this machine. It takes
// no step back and is not deleted.
func TestFetchedSession(t *testing.T) {
	t.Parallel()
	remote := remoteOf(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.turn("s-1", "m-1", "Fix the login", "a", "2\n")
	f.turn("s-1", "m-2", "And the logout", "b", "3\n")
	g := f.machine(gittest.Tree{"own": gittest.File("x\n")})
	f.sent(remote)
	g.got(remote)
	list, err := g.List(background)
	if err != nil || len(list) != 1 || list[0].Title != "Fix the login" || list[0].Fetched == nil || string(list[0].Fetched.Root) != f.repo.Root() {
		t.Fatalf("list %+v, %v", list, err)
	}
	if id, err := g.Find(background, "@"); err != nil || id != "s-1" {
		t.Errorf("@ is %q, %v", id, err)
	}
	messages, err := g.History(background, "s-1")
	if err != nil || len(messages) != 2 {
		t.Fatalf("messages %+v, %v", messages, err)
	}
	want := cairn.Paths{filepath.ToSlash(g.repo.Root()) + "/a"}
	if diff := cmp.Diff([]string(want), []string(messages[0].Steps[0].Patch.Files)); diff != "" {
		t.Error(diff)
	}
	shown, err := g.Get(background, "s-1")
	if err != nil || shown.Summary == nil || shown.Summary.Files != 2 {
		t.Errorf("session %+v, %v", shown, err)
	}
	if _, _, err := g.Revert(background, "s-1", session.Target{Message: "m-2"}, session.MoveOptions{}); !errors.Is(err, session.ErrFetched) || !strings.Contains(err.Error(), "cairn resume s-1") {
		t.Errorf("reverted: %v", err)
	}
	if err := g.Delete(background, "s-1"); !errors.Is(err, session.ErrFetched) {
		t.Errorf("deleted: %v", err)
	}
	fork, err := g.Fork(background, "s-1", "", "fork")
	if err != nil || fork.Fetched != nil || fork.Messages != 2 {
		t.Fatalf("fork %+v, %v", fork, err)
	}
	forked, err := g.History(background, "fork")
	if err != nil || forked[0].Steps[0].Patch.Files[0] != want[0] {
		t.Errorf("the fork has %+v, %v", forked, err)
	}
	g.is("own", "x\n")
}

// A session goes on elsewhere, and then at home again.
func TestResume(t *testing.T) {
	t.Parallel()
	remote := remoteOf(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.turn("s-1", "m-1", "Fix the login", "a", "2\n")
	g := f.machine(gittest.Tree{"a": gittest.File("mine\n"), "own": gittest.File("x\n")})
	f.sent(remote)
	before := gittest.Manifest(t, g.root)
	id, _, err := g.repo.FetchSession(background, remote, "@")
	if err != nil || id != "s-1" {
		t.Fatalf("fetched %q, %v", id, err)
	}
	if _, err := g.Resume(background, id, cairn.RestoreOptions{DryRun: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, gittest.Manifest(t, g.root)); diff != "" {
		t.Errorf("a dry run: %s", diff)
	}
	if _, err := g.Resume(background, id, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gittest.Manifest(t, f.root), gittest.Manifest(t, g.root)); diff != "" {
		t.Errorf("resumed: %s", diff)
	}
	g.turn("s-1", "m-2", "And the logout", "b", "3\n")
	s, err := g.Get(background, "s-1")
	if err != nil || s.Fetched != nil || s.Messages != 2 {
		t.Errorf("session %+v, %v", s, err)
	}
	g.reopen()
	messages, err := g.History(background, "s-1")
	if err != nil || len(messages) != 2 || messages[0].Steps[0].Patch.Files[0] != filepath.ToSlash(g.repo.Root())+"/a" {
		t.Errorf("messages %+v, %v", messages, err)
	}
	g.sent(remote)
	f.got(remote)
	if _, err := f.Resume(background, "s-1", cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	f.is("b", "3\n")
	messages, err = f.History(background, "s-1")
	if err != nil || len(messages) != 2 || messages[0].Steps[0].Patch.Files[0] != filepath.ToSlash(f.repo.Root())+"/a" {
		t.Errorf("at home again: %+v, %v", messages, err)
	}
	if _, _, err := f.Revert(background, "s-1", session.Target{Message: "m-2"}, session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.path("b")); err == nil {
		t.Error("the turn of the other machine was not taken back")
	}
}

// resumed returns a machine with a turn, and another one that has resumed its session.
func resumed(t *testing.T) (f, g *fixture, remote string) {
	t.Helper()
	remote = remoteOf(t)
	f = newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.turn("s-1", "m-1", "Fix the login", "a", "2\n")
	g = f.machine(gittest.Tree{})
	f.sent(remote)
	g.got(remote)
	if _, err := g.Resume(background, "s-1", cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	return f, g, remote
}

// Both machines went on: nothing is done.
func TestResumeParted(t *testing.T) {
	t.Parallel()
	f, g, remote := resumed(t)
	g.turn("s-1", "m-2", "Here", "b", "3\n")
	f.turn("s-1", "m-3", "There", "c", "4\n")
	g.sent(remote)
	f.got(remote)
	before := gittest.Manifest(t, f.root)
	if _, err := f.Resume(background, "s-1", cairn.RestoreOptions{}); !errors.Is(err, cairn.ErrExists) {
		t.Errorf("resumed: %v", err)
	}
	if diff := cmp.Diff(before, gittest.Manifest(t, f.root)); diff != "" {
		t.Error(diff)
	}
	if _, err := f.Resume(background, "none", cairn.RestoreOptions{}); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("no such session: %v", err)
	}
}

// A session that a purge has rewritten goes on elsewhere as it is now, without what was purged.
func TestResumeAfterAPurge(t *testing.T) {
	t.Parallel()
	remote := remoteOf(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "key": gittest.File("secret\n")})
	f.turn("s-1", "m-1", "Fix the login", "a", "2\n")
	g, h := f.machine(gittest.Tree{}), f.machine(gittest.Tree{})
	f.sent(remote)
	if _, err := f.repo.Purge(background, []string{f.path("key")}); err != nil {
		t.Fatal(err)
	}
	f.turn("s-1", "m-2", "And the logout", "b", "3\n")
	f.sent(remote)
	if _, _, err := g.repo.FetchSession(background, remote, "s-1"); err != nil {
		t.Fatal(err)
	}
	h.got(remote)
	for _, m := range []*fixture{g, h} {
		if _, err := m.Resume(background, "s-1", cairn.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		m.is("a", "2\n")
		m.is("b", "3\n")
		if _, err := os.Stat(m.path("key")); err == nil {
			t.Error("what was purged is back")
		}
		if s, err := m.Get(background, "s-1"); err != nil || s.Fetched != nil || s.Messages != 2 {
			t.Errorf("session %+v, %v", s, err)
		}
	}
}
