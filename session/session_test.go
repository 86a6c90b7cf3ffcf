package session_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

var background = context.Background()

// fixture is a root with sessions in it.
type fixture struct {
	*testing.T
	root, data string
	repo       *cairn.Repo
	maxFile    int64           // size limit of captures in bytes, 0 = the default
	oneDay     bool            // no midnight comes
	log        strings.Builder // of the repository that is open
	*session.Sessions
}

func newFixture(t *testing.T, tree gittest.Tree) *fixture {
	t.Helper()
	return newFixtureIn(t, t.TempDir(), tree)
}

// newFixtureIn is newFixture with the root given.
func newFixtureIn(t *testing.T, root string, tree gittest.Tree) *fixture {
	t.Helper()
	f := &fixture{T: t, root: root, data: t.TempDir()}
	gittest.Create(t, f.root, tree)
	f.reopen()
	return f
}

// reopen forgets all that is only in memory.
func (f *fixture) reopen() {
	f.Helper()
	f.log.Reset()
	r, err := cairn.Open(cairn.Options{Root: f.root, DataDir: f.data, NoSync: true, MaxFileSize: f.maxFile, Logger: slog.New(slog.NewTextHandler(&f.log, nil))})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { r.Close() })
	f.repo, f.Sessions = r, session.New(r)
	if f.oneDay {
		access.SetClock(r, gittest.OneDay)
	}
}

func (f *fixture) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

func (f *fixture) write(name, content string) {
	f.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(f.path(name), []byte(content), 0o644); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) remove(name string) {
	f.Helper()
	if err := os.RemoveAll(f.path(name)); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) read(name string) string {
	f.Helper()
	data, err := os.ReadFile(f.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return "(absent)"
	}
	if err != nil {
		f.Fatal(err)
	}
	return string(data)
}

// step runs do as a step.
func (f *fixture) step(id, message, step string, do func(), paths ...string) *session.Step {
	f.Helper()
	f.begin(id, message, step, paths...)
	do()
	return f.end(id, step)
}

func (f *fixture) begin(id, message, step string, paths ...string) *session.Step {
	f.Helper()
	st, err := f.BeginStep(background, session.StepBegin{Session: id, Message: message, Role: session.RoleUser, Step: step, Paths: paths})
	if err != nil {
		f.Fatal(err)
	}
	return st
}

func (f *fixture) end(id, step string) *session.Step {
	f.Helper()
	st, err := f.EndStep(background, session.StepEnd{Session: id, Step: step})
	if err != nil {
		f.Fatal(err)
	}
	return st
}

func (f *fixture) revert(id string, to session.Target) (*session.Session, *cairn.Result) {
	f.Helper()
	s, res, err := f.Revert(background, id, to, session.MoveOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return s, res
}

func (f *fixture) unrevert(id string) (*session.Session, *cairn.Result) {
	f.Helper()
	s, res, err := f.Unrevert(background, id, session.MoveOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return s, res
}

func (f *fixture) get(id string) *session.Session {
	f.Helper()
	s, err := f.Get(background, id)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// lines is a text of n lines, some of them replaced.
func lines(n int, edits map[int]string) string {
	var b strings.Builder
	for i := range n {
		if text, ok := edits[i]; ok {
			b.WriteString(text + "\n")
		} else {
			b.WriteString("line " + string(rune('a'+i)) + "\n")
		}
	}
	return b.String()
}

func TestRevertAndUnrevert(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "gone": gittest.File("g\n"), "user": gittest.File("u\n")})
	before := gittest.Manifest(t, f.root)
	f.step("s", "m1", "1", func() { f.write("a", "2\n"); f.remove("gone") })
	one := gittest.Manifest(t, f.root)
	f.step("s", "m2", "2", func() { f.write("a", "3\n"); f.write("dir/new", "n\n"); os.Mkdir(f.path("empty"), 0o700) })
	two := gittest.Manifest(t, f.root)

	s, res := f.revert("s", session.Target{Message: "m2"})
	gittest.AssertEqual(t, "after revert to m2", one, gittest.Manifest(t, f.root))
	if s.Revert == nil || s.Revert.Message != "m2" || s.Messages != 1 || s.Steps != 1 || s.Summary.Files != 2 || res.Operation == "" {
		t.Errorf("%+v %+v %+v", s, s.Revert, res)
	}
	if !strings.Contains(s.Revert.Diff, "-3\n+2") {
		t.Errorf("diff:\n%s", s.Revert.Diff)
	}
	s, _ = f.revert("s", session.Target{Message: "m1"})
	gittest.AssertEqual(t, "after revert to m1", before, gittest.Manifest(t, f.root))
	if s.Messages != 0 || s.Summary.Files != 0 {
		t.Errorf("%+v", s)
	}
	f.revert("s", session.Target{Message: "m2"})
	gittest.AssertEqual(t, "forward to m2", one, gittest.Manifest(t, f.root))
	f.reopen()
	s, _ = f.unrevert("s")
	gittest.AssertEqual(t, "after unrevert", two, gittest.Manifest(t, f.root))
	if s.Revert != nil || s.Messages != 2 || s.Steps != 2 || s.Summary.Files != 3 {
		t.Errorf("%+v %+v", s, s.Summary)
	}
	gittest.NewOracle(t).Fsck(f.repo.StoreDir())
}

func TestHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	if _, err := f.Begin(background, session.SessionBegin{ID: "s", Title: "T", Meta: map[string]string{"k": "v"}}); err != nil {
		t.Fatal(err)
	}
	st := f.step("s", "m1", "1", func() { f.write("a", "2\n") })
	if want := []string{filepath.ToSlash(f.repo.Root()) + "/a"}; !slices.Equal(st.Patch.Files, want) || st.Patch.Hash != st.Before.Hash {
		t.Errorf("%+v", st.Patch)
	}
	list, err := f.History(background, "s")
	if err != nil || len(list) != 1 || len(list[0].Steps) != 1 || list[0].Steps[0].After.ID != st.After.ID {
		t.Fatalf("%+v, %v", list, err)
	}
	all, err := f.List(background)
	if err != nil || len(all) != 1 || all[0].Title != "T" || all[0].Meta["k"] != "v" || all[0].Steps != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	for d, err := range f.Diff(background, "s", session.Scope{}, cairn.DiffOptions{}) {
		if err != nil || d.File != "a" || d.Additions != 1 {
			t.Errorf("%+v, %v", d, err)
		}
	}
}
