package identity

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestMain(m *testing.M) {
	gittest.Prepare()
	m.Run()
}

// world is a repository and the git that made it.
type world struct {
	*gittest.Oracle
	t   testing.TB
	dir string
}

func newWorld(t testing.TB, args ...string) *world {
	t.Helper()
	gittest.NeedGit(t)
	o := gittest.NewOracle(t)
	return &world{o, t, o.Init(filepath.Join(t.TempDir(), "w"), args...)}
}

func (w *world) commit(text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "file"), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.Commit(w.dir, text)
}

// of asks for the project at a directory.
func of(t testing.TB, dir string, known Project) (Project, error) {
	t.Helper()
	repo, err := git.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, why, err := Of(t.Context(), repo, root, known)
	if err != nil {
		t.Fatal(err)
	}
	return p, why
}

// firstParents asks git for the root commit.
func (w *world) firstParents(dir string) string {
	w.t.Helper()
	lines := strings.Fields(w.In(dir, "rev-list", "--first-parent", "HEAD"))
	return lines[len(lines)-1]
}

// Clones, bare detours, packed histories, branches and merges of other histories keep the project.
func TestRootStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("one")
	w.commit("two")
	first, why := of(t, w.dir, Project{})
	if why != nil || first.Root != w.firstParents(w.dir) {
		t.Fatalf("project %+v, %v, want root %s", first, why, w.firstParents(w.dir))
	}
	same := func(what, dir string, known Project) {
		t.Helper()
		if p, why := of(t, dir, known); why != nil || p != first {
			t.Errorf("%s: %+v, %v, want %+v", what, p, why, first)
		}
	}
	clone := filepath.Join(t.TempDir(), "elsewhere")
	w.In(w.dir, "clone", "-q", w.dir, clone)
	same("a clone", clone, Project{})
	w.In(w.dir, "gc", "-q")
	same("packed", w.dir, Project{})
	linked := filepath.Join(t.TempDir(), "linked")
	w.In(w.dir, "worktree", "add", "-q", "-b", "side", linked)
	same("a linked work tree", linked, Project{})
	borrowing := filepath.Join(t.TempDir(), "borrowing")
	w.In(w.dir, "clone", "-q", "--shared", w.dir, borrowing)
	same("a clone that borrows", borrowing, Project{})
	w.In(w.dir, "checkout", "-q", "--orphan", "pages")
	w.commit("another root")
	same("an orphan branch, after the project was known", w.dir, first)
	if p, _ := of(t, w.dir, Project{}); p == first {
		t.Error("an orphan branch has the root of the main one")
	}
	w.In(w.dir, "checkout", "-q", "main")
	w.In(w.dir, "merge", "-q", "--allow-unrelated-histories", "-s", "ours", "-m", "m", "pages")
	same("another history was merged", w.dir, Project{})
	moved := w.dir + "-moved"
	if err := os.Rename(clone, moved); err != nil {
		t.Fatal(err)
	}
	same("moved", moved, Project{})
}

func TestWithin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("one")
	below := filepath.Join(w.dir, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	top, _ := of(t, w.dir, Project{})
	p, why := of(t, below, Project{})
	if why != nil || p.Within != "a/b" || p.Root != top.Root || p.Key("/x") == top.Key("/x") {
		t.Errorf("below the top %+v, %v", p, why)
	}
	if p, _ := of(t, below, top); p.Within != "a/b" {
		t.Errorf("what was known of the top counts below it: %+v", p)
	}
}

// Where no root can be read, the project stays what it was, with a reason.
func TestUnknownRoot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := Project{Root: strings.Repeat("1", 40)}
	if p, why := of(t, w.dir, known); !errors.Is(why, ErrNoCommit) || p != known {
		t.Errorf("no commit: %+v, %v", p, why)
	}
	w.commit("one")
	w.commit("two")
	shallow := filepath.Join(t.TempDir(), "shallow")
	w.In(w.dir, "clone", "-q", "--depth=1", "file://"+w.dir, shallow)
	if p, why := of(t, shallow, Project{}); !errors.Is(why, ErrShallow) || p != (Project{}) {
		t.Errorf("a shallow clone: %+v, %v", p, why)
	}
	if p, why := of(t, t.TempDir(), known); why != nil || p != known {
		t.Errorf("no repository: %+v, %v", p, why)
	}
	given := Project{Given: "shop"}
	if p, why := of(t, w.dir, given); why != nil || p != given {
		t.Errorf("an id: %+v, %v", p, why)
	}
	if p, why := of(t, w.dir, known); why != nil || p.Root != w.firstParents(w.dir) {
		t.Errorf("another repository in the place: %+v, %v", p, why)
	}
	root := w.firstParents(w.dir)
	if err := os.Remove(filepath.Join(w.dir, ".git", "objects", root[:2], root[2:])); err != nil {
		t.Fatal(err)
	}
	if p, why := of(t, w.dir, known); why == nil || p != known {
		t.Errorf("a lost commit: %+v, %v", p, why)
	}
}

func TestSHA256(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "--object-format=sha256")
	w.commit("one")
	if p, why := of(t, w.dir, Project{}); !errors.Is(why, ErrSHA256) || p != (Project{}) {
		t.Errorf("%+v, %v", p, why)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	root := strings.Repeat("ab", 20)
	for _, p := range []Project{{}, {Root: root}, {Root: root, Within: "a"}, {Given: "shop", Root: root}} {
		keys := p.Keys("/srv/shop")
		if want := 2; p == (Project{}) && len(keys) != 1 || p != (Project{}) && len(keys) != want {
			t.Errorf("%+v has the keys %q", p, keys)
		}
		for i, key := range keys {
			if !IsKey(key) || ByPath(key) != (i == len(keys)-1) {
				t.Errorf("key %q of %+v", key, p)
			}
		}
		data, err := p.Encode()
		if again, derr := Decode(data); err != nil || derr != nil || again != p {
			t.Errorf("%+v is stored as %q, read as %+v, %v, %v", p, data, again, err, derr)
		}
	}
	for _, text := range []string{"", "about", "id-", "id-..", "id-A", "remotes", "0123", strings.Repeat("g", 40), "../x"} {
		if IsKey(text) {
			t.Errorf("%q counts as a key", text)
		}
	}
}

func TestCheckID(t *testing.T) {
	t.Parallel()
	for id, ok := range map[string]bool{
		"shop": true, "a": true, "a.b-c_1": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, "A": false, "a/b": false, "-a": false, ".a": false, "a..b": false, "a.": false, "a.lock": false, "a b": false, "é": false, "a\n": false,
	} {
		if err := CheckID(id); (err == nil) != ok {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// A damaged or later note is an error, never a project.
func TestDecode(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{}", `{"v":2}`, `{"v":1,"id":"A"}`, `{"v":1,"root":"xy"}`, `[]`} {
		if p, err := Decode([]byte(text)); err == nil {
			t.Errorf("%q is %+v", text, p)
		}
	}
}
