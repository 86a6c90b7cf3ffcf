package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// roots is a session "s" of several directories. The embedded fixture is that of the first.
type roots struct {
	*fixture
	all []*fixture
}

func newRoots(t *testing.T, trees ...gittest.Tree) *roots {
	t.Helper()
	r := &roots{}
	base, data := t.TempDir(), t.TempDir()
	for i, tree := range trees {
		f := &fixture{T: t, root: filepath.Join(base, fmt.Sprintf("%c", 'a'+i)), data: data}
		if err := os.Mkdir(f.root, 0o755); err != nil {
			t.Fatal(err)
		}
		gittest.Create(t, f.root, tree)
		f.reopen()
		r.all = append(r.all, f)
	}
	r.fixture = r.all[0]
	r.link(r.all[1:]...)
	return r
}

func (r *roots) link(more ...*fixture) {
	r.Helper()
	b := session.SessionBegin{ID: "s"}
	for _, f := range more {
		b.Further = append(b.Further, f.root)
	}
	if _, err := r.Begin(background, b); err != nil {
		r.Fatal(err)
	}
}

// manifest is everything in all roots.
func (r *roots) manifest() string {
	r.Helper()
	var b strings.Builder
	for _, f := range r.all {
		m := gittest.Manifest(r.T, f.root)
		for _, path := range slices.Sorted(func(yield func(string) bool) {
			for path := range m {
				if !yield(path) {
					return
				}
			}
		}) {
			fmt.Fprintf(&b, "%s/%s: %v\n", filepath.Base(f.root), path, m[path])
		}
	}
	return b.String()
}

func (r *roots) same(what, want string) {
	r.Helper()
	if got := r.manifest(); got != want {
		r.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

// turns are three turns over two roots: of the first, of the second, of both.
func (r *roots) turns() (states [4]string) {
	r.Helper()
	a, b := r.all[0], r.all[1]
	states[0] = r.manifest()
	r.step("s", "m1", "1", func() { a.write("file", "1\n"); a.write("d/made", "m\n") })
	states[1] = r.manifest()
	r.step("s", "m2", "2", func() { b.write("file", "2\n"); b.remove("gone"); os.Mkdir(b.path("empty"), 0o700) })
	states[2] = r.manifest()
	r.step("s", "m3", "3", func() { a.remove("d"); a.write("d", "a file\n"); os.Chmod(b.path("file"), 0o700) })
	states[3] = r.manifest()
	return states
}

func twoTrees() []gittest.Tree {
	return []gittest.Tree{{"file": gittest.File("0\n")}, {"file": gittest.File("0\n"), "gone": gittest.File("g\n")}}
}

// TestRootsAreOneSession: a move in one root moves all, whichever root it is asked in, and one undo of
// the repository takes it back in all.
func TestRootsAreOneSession(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoots(t, twoTrees()...)
			states := r.turns()
			from, other := r.all[i], r.all[1-i]
			for n, m := range []string{"m3", "m2", "m1"} {
				_, res := from.revert("s", session.Target{Message: m})
				r.same("before "+m, states[2-n])
				for _, f := range r.all {
					if s := f.get("s"); s.Revert == nil || s.Revert.Message != m {
						t.Errorf("%s: the boundary is %+v", f.root, s.Revert)
					}
				}
				if !res.Complete() || m == "m3" && (len(res.Elsewhere) != 1 || string(res.Elsewhere[0].Root) != other.root) {
					t.Errorf("before %s: %+v", m, res)
				}
			}
			other.unrevert("s")
			r.same("unrevert in the other root", states[3])
			for range 2 {
				if _, err := from.repo.Undo(background, cairn.RevertOptions{}); err != nil {
					t.Fatal(err)
				}
				r.same("undo of the unrevert", states[0])
				if _, err := other.repo.Redo(background, cairn.RevertOptions{}); err != nil {
					t.Fatal(err)
				}
				r.same("redo in the other root", states[3])
			}
			for _, f := range r.all {
				gittest.NewOracle(t).Fsck(f.repo.StoreDir())
			}
		})
	}
}

// TestRootsUndoTurn: a turn that changed only the other root is a turn of the session here.
func TestRootsUndoTurn(t *testing.T) {
	t.Parallel()
	r := newRoots(t, twoTrees()...)
	states := r.turns()
	for n := range 3 {
		if _, _, err := r.UndoTurn(background, "s", session.MoveOptions{}); err != nil {
			t.Fatal(err)
		}
		r.same(fmt.Sprint("undo ", n), states[2-n])
	}
	for n := range 3 {
		if _, _, err := r.all[1].RedoTurn(background, "s", session.MoveOptions{}); err != nil {
			t.Fatal(err)
		}
		r.same(fmt.Sprint("redo ", n), states[n+1])
	}
	history, err := r.History(background, "s")
	if err != nil {
		t.Fatal(err)
	}
	turn := session.Turns(history)[1]
	want := []string{r.all[1].path("file"), r.all[1].path("gone")}
	if got := turn.Changed(); !slices.Equal(got, want) {
		t.Errorf("the second turn changed %q, want %q", got, want)
	}
}

// TestRootsNoneBeforeAll: where one root refuses, no other has changed.
func TestRootsNoneBeforeAll(t *testing.T) {
	t.Parallel()
	r := newRoots(t, twoTrees()...)
	r.turns()
	r.all[1].write("file", "the user's\n")
	before := r.manifest()
	to := session.Target{Message: "m1"}
	for _, f := range r.all {
		if _, _, err := f.Revert(background, "s", to, session.MoveOptions{OnConflict: cairn.Fail}); !errors.Is(err, cairn.ErrConflict) {
			t.Errorf("%s: %v", f.root, err)
		}
		r.same("refused", before)
		if s := f.get("s"); s.Revert != nil {
			t.Errorf("%s: reverted: %+v", f.root, s.Revert)
		}
	}
	_, res, err := r.Revert(background, "s", to, session.MoveOptions{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	r.same("a dry run", before)
	r.all[1].write("file", "the user's again\n")
	if _, _, err := r.Revert(background, "s", to, session.MoveOptions{Plan: res.PlanID, OnConflict: cairn.Overwrite}); !errors.Is(err, cairn.ErrMoved) {
		t.Errorf("another plan: %v", err)
	}
	if _, res, err = r.Revert(background, "s", to, session.MoveOptions{DryRun: true}); err != nil || len(res.Elsewhere) != 1 {
		t.Fatal(res, err)
	}
	if _, res, err = r.Revert(background, "s", to, session.MoveOptions{Plan: res.PlanID}); err != nil {
		t.Fatal(err)
	}
	if res.Complete() || len(res.Conflicts) > 0 || len(res.Elsewhere) != 1 || len(res.Elsewhere[0].Conflicts) != 1 {
		t.Errorf("the conflict is the other root's: %+v", res)
	}
	if got := r.all[1].read("file"); got != "the user's again\n" {
		t.Errorf("the user's file: %q", got)
	}
	if got := r.read("file"); got != "0\n" {
		t.Errorf("file of the first root: %q", got)
	}
}

// TestRootsThisRoot: one root can go alone, and follows the others again later.
func TestRootsThisRoot(t *testing.T) {
	t.Parallel()
	r := newRoots(t, twoTrees()...)
	states := r.turns()
	other := gittest.Manifest(t, r.all[1].root)
	if _, _, err := r.Revert(background, "s", session.Target{Message: "m1"}, session.MoveOptions{ThisRoot: true}); err != nil {
		t.Fatal(err)
	}
	gittest.AssertEqual(t, "the other root", other, gittest.Manifest(t, r.all[1].root))
	if r.read("file") != "0\n" {
		t.Error("this root has not moved")
	}
	r.all[1].revert("s", session.Target{Message: "m1"})
	r.same("both", states[0])
	r.unrevert("s")
	r.same("unrevert", states[3])
	r.revert("s", session.Target{Message: "m1"})
	if _, err := r.all[1].repo.Undo(background, cairn.RevertOptions{ThisRoot: true}); err != nil {
		t.Fatal(err)
	}
	gittest.AssertEqual(t, "undone in the other root", other, gittest.Manifest(t, r.all[1].root))
	if r.read("file") != "0\n" {
		t.Error("this root has moved")
	}
	if _, err := r.repo.Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	r.same("undone in both", states[3])
}

// TestRootsGone: a root that is not there stops a move of all, names itself and the way out.
func TestRootsGone(t *testing.T) {
	t.Parallel()
	r := newRoots(t, twoTrees()...)
	states := r.turns()
	away := r.all[1].root + "-away"
	if err := os.Rename(r.all[1].root, away); err != nil {
		t.Fatal(err)
	}
	before := gittest.Manifest(t, r.root)
	_, _, err := r.Revert(background, "s", session.Target{Message: "m1"}, session.MoveOptions{})
	if !errors.Is(err, cairn.ErrOtherRoot) || !errors.Is(err, cairn.ErrRoot) || !strings.Contains(err.Error(), r.all[1].root) || !strings.Contains(err.Error(), "--this-root") {
		t.Errorf("%v", err)
	}
	gittest.AssertEqual(t, "refused", before, gittest.Manifest(t, r.root))
	st, err := r.BeginStep(background, session.StepBegin{Session: "s", Message: "m4", Step: "4"})
	if err != nil || len(st.Missing) != 1 || string(st.Missing[0].Path) != r.all[1].root {
		t.Fatalf("a step begins here: %+v, %v", st, err)
	}
	r.write("file", "4\n")
	if st, err = r.EndStep(background, session.StepEnd{Session: "s"}); err != nil || len(st.Patch.Files) != 1 || len(st.Missing) != 1 {
		t.Fatalf("and ends: %+v, %v", st, err)
	}
	if _, _, err := r.Revert(background, "s", session.Target{Message: "m4"}, session.MoveOptions{ThisRoot: true}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, r.all[1].root); err != nil {
		t.Fatal(err)
	}
	r.same("as before", states[3])
	r.revert("s", session.Target{Message: "m2"})
	r.same("both go again", states[1])
	if err := os.Rename(r.all[1].root, away); err != nil {
		t.Fatal(err)
	}
	if _, err := r.repo.Undo(background, cairn.RevertOptions{}); !errors.Is(err, cairn.ErrOtherRoot) || !strings.Contains(err.Error(), "--this-root") {
		t.Errorf("undo: %v", err)
	}
}

// TestRootsMoved: where a root of the session was moved, all go on together, whichever root is asked: sessions, and
// operations from before the move.
func TestRootsMoved(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		moved, asked := i%2, i/2
		t.Run(fmt.Sprintf("moved=%d,asked=%d", moved, asked), func(t *testing.T) {
			t.Parallel()
			r := newRoots(t, twoTrees()...)
			states := r.turns()
			r.revert("s", session.Target{Message: "m3"})
			f, old := r.all[moved], r.all[moved].root
			if err := f.repo.Close(); err != nil {
				t.Fatal(err)
			}
			f.root = filepath.Join(t.TempDir(), filepath.Base(old))
			if err := os.Rename(old, f.root); err != nil {
				t.Fatal(err)
			}
			if err := cairn.Adopt(background, f.data, old, f.root); err != nil {
				t.Fatal(err)
			}
			for _, f := range r.all {
				f.reopen()
			}
			from, other := r.all[asked], r.all[1-asked]
			if _, err := from.repo.Undo(background, cairn.RevertOptions{}); err != nil {
				t.Fatal(err)
			}
			r.same("undo of the revert from before the move", states[3])
			if _, err := other.repo.Redo(background, cairn.RevertOptions{}); err != nil {
				t.Fatal(err)
			}
			r.same("redo in the other root", states[2])
			_, res := from.revert("s", session.Target{Message: "m1"})
			r.same("revert", states[0])
			if len(res.Elsewhere) != 1 || string(res.Elsewhere[0].Root) != other.root {
				t.Errorf("%+v", res)
			}
			other.unrevert("s")
			r.same("unrevert in the other root", states[3])
			st, err := from.BeginStep(background, session.StepBegin{Session: "s", Message: "m4", Step: "4"})
			if err != nil || len(st.Missing) > 0 {
				t.Fatalf("a step begins: %+v, %v", st, err)
			}
			other.write("file", "4\n")
			if st, err = from.EndStep(background, session.StepEnd{Session: "s"}); err != nil || len(st.Missing) > 0 {
				t.Fatalf("and ends: %+v, %v", st, err)
			}
			other.revert("s", session.Target{Message: "m4"})
			r.same("the step in the other root", states[3])
			for _, f := range r.all {
				gittest.NewOracle(t).Fsck(f.repo.StoreDir())
			}
		})
	}
}

// TestRootsJoinLater: a root that joins in the middle of a step goes back to where it joined.
func TestRootsJoinLater(t *testing.T) {
	t.Parallel()
	r := newRoots(t, gittest.Tree{"file": gittest.File("0\n")})
	b := &fixture{T: t, root: t.TempDir(), data: r.data}
	gittest.Create(t, b.root, gittest.Tree{"file": gittest.File("b\n")})
	b.reopen()
	r.all = append(r.all, b)
	start := r.manifest()
	r.step("s", "m1", "1", func() { r.write("file", "1\n") })
	if _, err := r.AddMessage(background, session.MessageBegin{Session: "s", Message: "m2", Role: session.RoleUser, Prompt: "both"}); err != nil {
		t.Fatal(err)
	}
	second := r.manifest()
	r.step("s", "m2", "2", func() { r.write("file", "2\n"); r.link(b); b.write("file", "2\n") })
	r.step("s", "m3", "3", func() { b.write("more", "3\n") })
	end := r.manifest()
	for _, f := range r.all {
		f.revert("s", session.Target{Message: "m2"})
		r.same("before the second", second)
		f.unrevert("s")
		r.same("all back", end)
		f.revert("s", session.Target{Message: "m2"})
	}
	r.revert("s", session.Target{Message: "m1"})
	r.same("before the first", start)
	r.unrevert("s")
	r.same("all", end)
	list, err := b.History(background, "s")
	if err != nil || len(list) != 2 || list[0].Prompt != "both" {
		t.Errorf("the second root has %+v, %v", list, err)
	}
	for i, f := range r.all {
		if got := f.get("s").Further; !slices.Equal(got, []string{r.all[1-i].root}) {
			t.Errorf("%s: other roots %q", f.root, got)
		}
	}
}

// TestRootsOfSubAgents: the steps of a sub-agent in another root go with the message that began it.
func TestRootsOfSubAgents(t *testing.T) {
	t.Parallel()
	r := newRoots(t, twoTrees()...)
	before := r.manifest()
	r.begin("s", "m1", "1")
	if _, err := r.Begin(background, session.SessionBegin{ID: "child", Parent: "s"}); err != nil {
		t.Fatal(err)
	}
	r.step("child", "c1", "c1", func() { r.all[1].write("file", "child\n") })
	r.write("file", "parent\n")
	r.end("s", "1")
	after := r.manifest()
	r.revert("s", session.Target{Message: "m1"})
	r.same("back", before)
	r.unrevert("s")
	r.same("forth", after)
}

// TestRootsRevertSteps: chosen steps go in all roots, as one operation.
func TestRootsRevertSteps(t *testing.T) {
	t.Parallel()
	r := newRoots(t, twoTrees()...)
	r.turns()
	end := r.manifest()
	res, err := r.RevertSteps(background, "s", []string{"2", "3"}, cairn.RevertOptions{})
	if err != nil || !res.Complete() {
		t.Fatal(res, err)
	}
	if r.all[1].read("file") != "0\n" || r.all[1].read("gone") != "g\n" || r.read("d/made") != "m\n" || r.read("file") != "1\n" {
		t.Errorf("the roots have\n%s", r.manifest())
	}
	if _, err := r.all[1].repo.Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	r.same("one undo", end)
}

// TestRootsRefused: roots within each other, git of several roots, paths that are no directory.
func TestRootsRefused(t *testing.T) {
	t.Parallel()
	r := newRoots(t, twoTrees()...)
	r.turns()
	for name, dir := range map[string]string{"around": filepath.Dir(r.root), "relative": "b", "file": r.all[1].path("file")} {
		if _, err := r.Begin(background, session.SessionBegin{ID: "other", Further: []string{dir}}); !errors.Is(err, cairn.ErrRoot) || !errors.Is(err, cairn.ErrOtherRoot) && name != "around" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s, err := r.Begin(background, session.SessionBegin{ID: "inside", Further: []string{r.path("d")}}); err != nil || len(s.Further) > 0 {
		t.Errorf("a directory of the root: %+v, %v", s, err)
	}
	if stores, err := filepath.Glob(filepath.Join(r.data, "snapshot", "*")); err != nil || len(stores) != 2 {
		t.Errorf("stores %q, %v", stores, err)
	}
	before := r.manifest()
	if _, _, err := r.Revert(background, "s", session.Target{Start: true}, session.MoveOptions{Git: true, DryRun: true}); !errors.Is(err, cairn.ErrGitRefused) || !strings.Contains(err.Error(), "--this-root") {
		t.Errorf("git of several roots: %v", err)
	}
	r.same("refused", before)
}

// TestRootsPaths: a path below another root is that root's, and no path outside.
func TestRootsPaths(t *testing.T) {
	t.Parallel()
	r := newRoots(t, gittest.Tree{"file": gittest.File("0\n")}, gittest.Tree{".gitignore": gittest.File("ignored\n"), "ignored": gittest.File("i\n")})
	before := r.manifest()
	path, outside := r.all[1].path("ignored"), filepath.Join(t.TempDir(), "outside")
	stays, err := session.UncapturedPart("p", []session.UncapturedChange{{Path: cairn.Path(r.all[1].path("never"))}, {Path: cairn.Path(outside)}})
	if err != nil {
		t.Fatal(err)
	}
	r.begin("s", "m1", "1", path, r.path("file"))
	r.all[1].write("ignored", "changed\n")
	r.write("file", "changed\n")
	if _, err := r.EndStep(background, session.StepEnd{Session: "s", Parts: []session.Part{stays}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, res := r.revert("s", session.Target{Message: "m1"})
	r.same("the hint counts in its root", before)
	if len(res.NotTakenBack) != 1 || string(res.NotTakenBack[0].Path) != outside {
		t.Errorf("outside: %+v", res.NotTakenBack)
	}
}

// TestRootsForkAndDelete: a fork has the roots of its source, and a session is deleted in all of them.
func TestRootsForkAndDelete(t *testing.T) {
	t.Parallel()
	r := newRoots(t, twoTrees()...)
	states := r.turns()
	if _, err := r.Fork(background, "s", "m3", "fork"); err != nil {
		t.Fatal(err)
	}
	r.revert("s", session.Target{Message: "m3"})
	r.revert("fork", session.Target{Message: "m1"})
	r.same("the fork goes back in both", states[0])
	r.unrevert("fork")
	if err := r.Delete(background, "fork"); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.all {
		if _, err := f.Get(background, "fork"); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%s: %v", f.root, err)
		}
	}
}

// TestRootsNews: the host is told what went back in other roots, also of a turn that changed nothing
// here, and once.
func TestRootsNews(t *testing.T) {
	t.Parallel()
	r := newRoots(t, twoTrees()...)
	r.turns()
	r.revert("s", session.Target{Message: "m2"})
	n, err := r.TakeNews(background, "s")
	if err != nil || n == nil || len(n.TakenBack) != 2 {
		t.Fatalf("%+v, %v", n, err)
	}
	there := func(name string) string { return filepath.ToSlash(r.all[1].path(name)) }
	slices.Sort(n.Restored)
	if want := []string{there("file"), there("gone"), "d", "d/made"}; !sameSet(n.Restored, want) || !sameSet(n.Deleted, []string{there("empty")}) {
		t.Errorf("restored %q, deleted %q, want %q", n.Restored, n.Deleted, want)
	}
	if n, err := r.TakeNews(background, "s"); n != nil || err != nil {
		t.Errorf("told again: %+v, %v", n, err)
	}
	r.all[1].unrevert("s")
	if n, err := r.TakeNews(background, "s"); err != nil || n == nil || len(n.BroughtBack) != 2 {
		t.Errorf("brought back: %+v, %v", n, err)
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
