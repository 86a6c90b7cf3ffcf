package usergit

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// linked is a work tree that is to be linked, and the paths that Link takes.
func (f *fixture) linked() (w *Linked, tree, empty string) {
	f.Helper()
	base, err := filepath.EvalSymlinks(f.TempDir())
	f.must(err)
	tree, empty = filepath.Join(base, "tree"), filepath.Join(base, "scratch", "place")
	f.must(errors.Join(os.MkdirAll(tree, 0o755), os.MkdirAll(filepath.Dir(empty), 0o755)))
	f.must(os.WriteFile(filepath.Join(tree, "a"), []byte("a\n"), 0o644))
	return &Linked{Place: filepath.Join(base, "place"), Branch: "topic", Commit: f.base().Head.Commit}, tree, empty
}

// TestLink: without an index the work tree has that of the commit.
func TestLink(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n"), "b": gittest.File("b\n")})
	w, tree, empty := f.linked()
	f.must(f.CheckLinked(background, f.dir, w))
	f.must(f.Link(background, w, tree, empty, nil, false))
	f.must(os.Rename(tree, w.Place))
	f.want("status", "## topic\n D b\n", f.git.In(w.Place, "status", "--porcelain", "--branch"))
	if err := f.CheckLinked(background, f.dir, w); !errors.Is(err, ErrBranch) {
		t.Errorf("a branch that exists: %v", err)
	}
	if kept, err := f.RemoveLinked(background, w); err != nil || kept != "" {
		t.Errorf("%q %v", kept, err)
	}
	f.want("branches", "* main\n", f.run("branch"))
	if _, err := os.Lstat(filepath.Join(f.dir, ".git", "worktrees")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	if kept, err := f.RemoveLinked(background, w); err != nil || kept != "" {
		t.Errorf("a second time: %q %v", kept, err)
	}
}

// TestUnlink: only a branch that is still at its beginning goes, and no work tree at another place. A directory of
// which an earlier removal has left a part is found.
func TestUnlink(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	w, tree, empty := f.linked()
	other := filepath.Join(t.TempDir(), "place")
	f.run("worktree", "add", "-q", "-b", "other", other)
	f.must(f.Link(background, w, tree, empty, nil, false))
	admin := filepath.Join(f.dir, ".git", "worktrees", "place1")
	if _, err := os.Lstat(admin); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HEAD", "commondir"} {
		f.must(os.Remove(filepath.Join(admin, name)))
	}
	f.run("commit", "-q", "--allow-empty", "-m", "later")
	f.run("branch", "-f", w.Branch, "main")
	f.must(f.Unlink(background, w, empty))
	if _, err := os.Lstat(admin); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	f.want("a branch that has moved", "main other topic", strings.Join(strings.Fields(f.run("for-each-ref", "--format=%(refname:short)")), " "))
	f.run("branch", "-f", w.Branch, w.Commit)
	f.must(f.Unlink(background, w, empty))
	f.want("branches", "main other", strings.Join(strings.Fields(f.run("for-each-ref", "--format=%(refname:short)")), " "))
	f.want("the other work tree", "", f.git.In(other, "status", "--porcelain"))
}

// TestUnlinkOfOthers: a branch that Link has not made stays, and so does a work tree that has taken the place.
func TestUnlinkOfOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	w, tree, empty := f.linked()
	f.must(os.Remove(filepath.Dir(empty)))
	f.run("branch", w.Branch)
	f.must(f.Unlink(background, w, empty))
	f.want("a branch before Link", w.Commit+"\n", f.run("rev-parse", w.Branch))
	f.run("branch", "-D", w.Branch)
	for _, other := range []string{"--detach", "-b"} {
		f.must(errors.Join(os.RemoveAll(filepath.Dir(empty)), os.MkdirAll(filepath.Dir(empty), 0o755)))
		f.must(f.Link(background, w, tree, empty, nil, false))
		f.must(os.Remove(filepath.Join(tree, ".git")))
		args := []string{"worktree", "add", "-q", "-f", other}
		if other == "-b" {
			args = append(args, "other")
		}
		f.run(append(args, w.Place)...)
		f.must(f.Unlink(background, w, empty))
		f.want("status in the other work tree", "", f.git.In(w.Place, "status", "--porcelain"))
		f.want("the branch", "", f.run("branch", "--list", w.Branch))
		f.run("worktree", "remove", w.Place)
	}
}

// TestLinkRegistered: git prunes one of two entries for one path, so that there is no second one.
func TestLinkRegistered(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	w, _, _ := f.linked()
	f.run("worktree", "add", "-q", "--detach", w.Place)
	f.must(os.RemoveAll(w.Place))
	if err := f.CheckLinked(background, f.dir, w); !errors.Is(err, ErrRegistered) || !strings.Contains(err.Error(), "git worktree prune") {
		t.Errorf("%v", err)
	}
	f.run("worktree", "prune")
	f.must(f.CheckLinked(background, f.dir, w))
}

// TestRemoveLinkedKeeps: commits that the branch alone leads to keep it, those at which it began, too. Branches
// below its name are others.
func TestRemoveLinkedKeeps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	first := f.base().Head.Commit
	f.run("commit", "-q", "--allow-empty", "-m", "second")
	w, tree, empty := f.linked()
	f.must(f.Link(background, w, tree, empty, nil, false))
	f.must(os.Rename(tree, w.Place))
	f.run("reset", "-q", "--hard", first)
	if s, err := f.Linked(background, w); err != nil || s.Own != 1 {
		t.Errorf("%+v %v", s, err)
	}
	if kept, err := f.RemoveLinked(background, w); err != nil || kept != "1 commit of its own" {
		t.Errorf("%q %v", kept, err)
	}
	f.want("the branch", w.Commit+"\n", f.run("rev-parse", w.Branch))
	f.run("branch", "-m", w.Branch, "kept")
	f.run("branch", w.Branch+"/x", "kept")
	f.run("branch", w.Branch+"/y", "kept")
	if s, err := f.Linked(background, w); err != nil || !reflect.DeepEqual(s, LinkedState{}) {
		t.Errorf("%+v %v", s, err)
	}
	if kept, err := f.RemoveLinked(background, w); err != nil || kept != "" {
		t.Errorf("no such branch any more: %q %v", kept, err)
	}
}

// openBy opens the repository with a script in the place of git, which finds git as $REAL.
func (f *fixture) openBy(script string, env ...string) *Repo {
	f.Helper()
	real, err := exec.LookPath("git")
	f.must(err)
	program := filepath.Join(f.TempDir(), "git")
	gittest.Program(f, program, []byte(script))
	r, err := open(background, program, f.dir, append(append(f.git.Env(), "REAL="+real), env...))
	f.must(err)
	return r
}

// otherIsFirst is a git that comes second: another process has made the branch.
const otherIsFirst = `#!/bin/sh
case "$*" in
*"worktree add"*|*" branch -q"*) "$REAL" branch topic ;;
esac
exec "$REAL" "$@"
`

// TestLinkAtOnce: of two processes that make one branch, one gets ErrBranch, and the branch is that of the other one.
func TestLinkAtOnce(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: no shell")
	}
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	w, tree, empty := f.linked()
	r := f.openBy(otherIsFirst)
	if err := r.Link(background, w, tree, empty, nil, false); !errors.Is(err, ErrBranch) {
		t.Errorf("%v", err)
	}
	f.want("the branch", w.Commit+"\n", f.run("rev-parse", w.Branch))
}

// relativeLinks is a git that writes relative paths, as one since 2.48 does where it is told to.
const relativeLinks = `#!/bin/sh
"$REAL" "$@" || exit
case "$*" in
*"worktree add"*) echo "gitdir: $LINK" >"$EMPTY/.git" ;;
esac
`

// TestLinkRelative: links stay relative where git makes them so.
func TestLinkRelative(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: no shell")
	}
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	w, tree, empty := f.linked()
	dir, err := filepath.EvalSymlinks(f.dir)
	f.must(err)
	admin := filepath.Join(dir, ".git", "worktrees", "place")
	link, err := filepath.Rel(empty, admin)
	f.must(err)
	r := f.openBy(relativeLinks, "EMPTY="+empty, "LINK="+link)
	f.must(r.Link(background, w, tree, empty, nil, false))
	f.must(os.Rename(tree, w.Place))
	for path, want := range map[string]string{filepath.Join(w.Place, ".git"): admin, filepath.Join(admin, "gitdir"): filepath.Join(w.Place, ".git")} {
		text, err := os.ReadFile(path)
		f.must(err)
		to := strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir: "))
		if filepath.IsAbs(to) || filepath.Join(filepath.Dir(path), to) != want {
			t.Errorf("%s leads to %s, want %s", path, to, want)
		}
	}
	f.want("status", "## topic\n", f.git.In(w.Place, "status", "--porcelain", "--branch"))
	if _, err := r.RemoveLinked(background, w); err != nil {
		t.Fatal(err)
	}
	f.want("branches", "* main\n", f.run("branch"))
}
