package session_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// gitRoot is a fixture whose root is a git repository with stashes, and a vault for lost objects.
type gitRoot struct {
	*fixture
	o *gittest.Oracle
}

func newGitRoot(t *testing.T) *gitRoot {
	t.Helper()
	gittest.NeedGit(t)
	g := &gitRoot{newFixture(t, nil), gittest.NewOracle(t)}
	originals.Copy(t, g.root, "three commits", func(dir string) {
		other := &gitRoot{&fixture{T: t, root: g.o.Init(dir)}, g.o}
		for _, text := range []string{"one", "two", "three"} {
			other.commit(text)
		}
		other.git("branch", "topic")
		other.git("branch", "side", "HEAD~1")
		other.write("file", "stashed")
		other.git("stash", "-q")
	})
	g.git("update-index", "-q", "--refresh")
	return g
}

func (g *gitRoot) git(args ...string) string {
	g.Helper()
	return g.o.In(g.root, args...)
}

func (g *gitRoot) commit(text string) {
	g.Helper()
	g.write("file", text+"\n")
	g.o.Commit(g.root, text)
}

// lose drops everything that no ref leads to.
func (g *gitRoot) lose() {
	g.Helper()
	g.git("reflog", "expire", "--expire=now", "HEAD", "main")
	g.git("gc", "-q", "--prune=now")
}

// look is what git and the disk say.
func (g *gitRoot) look() string {
	g.Helper()
	var b strings.Builder
	for _, args := range []string{"for-each-ref", "ls-files --stage -v", "stash list", "log --all --oneline", "status --untracked-files=no", "symbolic-ref -q HEAD"} {
		out, err := g.o.Try(g.root, strings.Fields(args)...)
		fmt.Fprintf(&b, "%s: %v\n%s", args, err != nil, out)
	}
	files := gittest.Manifest(g.T, g.root)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if !slices.Contains(strings.Split(path, "/"), ".git") && path != "." && path != "" {
			fmt.Fprintf(&b, "%s: %v\n", path, files[path])
		}
	}
	return b.String()
}

// same compares what git and the disk say with what they said.
func (g *gitRoot) same(what, want string) {
	g.Helper()
	if got := g.look(); got != want {
		g.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
	g.o.Fsck(g.root)
}

// harm is a turn in which an agent does most of what can be done to a repository.
func (g *gitRoot) harm() {
	g.Helper()
	g.step("s", "m1", "1", func() {
		g.git("stash", "clear")
		g.git("branch", "-q", "-D", "topic")
		g.git("checkout", "-q", "-b", "other", "side")
		g.commit("conflict")
		if out, err := g.o.Try(g.root, "merge", "-q", "main"); err == nil {
			g.Fatalf("no conflict: %s", out)
		}
		g.git("update-ref", "refs/heads/main", "main~2")
		g.lose()
		g.write("new", "n")
		g.git("add", "-N", "new")
	})
}

func (g *gitRoot) plan(id string, to session.Target) session.MoveOptions {
	g.Helper()
	_, res, err := g.Revert(background, id, to, session.MoveOptions{Git: true, DryRun: true})
	if err != nil {
		g.Fatal(err)
	}
	return session.MoveOptions{Git: true, Plan: res.PlanID}
}

// TestGitBack: a turn goes back with what it did to git, comes back, and goes back again.
func TestGitBack(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	g := newGitRoot(t)
	before := g.look()
	g.harm()
	after := g.look()
	if _, _, err := g.Revert(background, "s", session.Target{Message: "m1"}, session.MoveOptions{Git: true}); !errors.Is(err, cairn.ErrGitNotPlanned) {
		t.Errorf("without a plan: %v", err)
	}
	g.same("a plan", after)
	for range 2 {
		_, res, err := g.Revert(background, "s", session.Target{Message: "m1"}, g.plan("s", session.Target{Message: "m1"}))
		if err != nil || !res.Complete() {
			t.Fatalf("%+v, %v", res, err)
		}
		g.same("back", before)
		_, res, err = g.Unrevert(background, "s", session.MoveOptions{Git: true, DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, res, err = g.Unrevert(background, "s", session.MoveOptions{Git: true, Plan: res.PlanID}); err != nil || !res.Complete() {
			t.Fatalf("%+v, %v", res, err)
		}
		g.same("forth", after)
	}
}

// TestGitBackBetween: two turns with work of the user between; only what the turns did goes back.
func TestGitBackBetween(t *testing.T) {
	t.Parallel()
	g := newGitRoot(t)
	g.step("s", "m1", "1", func() { g.git("branch", "-q", "-D", "topic"); g.git("branch", "agent") })
	g.git("branch", "mine")
	g.git("branch", "-q", "-f", "agent", "HEAD~1")
	g.step("s", "m2", "2", func() { g.git("branch", "-q", "-D", "side"); g.git("tag", "t") })
	_, res, err := g.Revert(background, "s", session.Target{Start: true}, g.plan("s", session.Target{Start: true}))
	if err != nil || len(res.Git.Conflicts) != 1 || res.Git.Conflicts[0].Ref != "refs/heads/agent" {
		t.Errorf("%+v, %v", res, err)
	}
	if got := strings.Join(strings.Fields(g.git("for-each-ref", "--format=%(refname:short)")), " "); got != "agent main mine side topic stash" {
		t.Errorf("refs %s", got)
	}
}

// TestGitBackOfAnother: a branch that another session has moved meanwhile stays.
func TestGitBackOfAnother(t *testing.T) {
	t.Parallel()
	g := newGitRoot(t)
	g.BeginStep(background, session.StepBegin{Session: "s", Message: "m1", Role: session.RoleUser, Step: "1"})
	g.BeginStep(background, session.StepBegin{Session: "o", Message: "m1", Role: session.RoleUser, Step: "1"})
	g.git("branch", "-q", "-f", "topic", "HEAD~1")
	g.end("o", "1")
	g.git("branch", "-q", "-D", "side")
	g.end("s", "1")
	_, res, err := g.Revert(background, "s", session.Target{Start: true}, g.plan("s", session.Target{Start: true}))
	if err != nil || len(res.Git.Changes) != 1 || len(res.Git.Conflicts) != 1 || res.Git.Conflicts[0].Ref != "refs/heads/topic" {
		t.Fatalf("%+v, %v", res, err)
	}
	for op, err := range g.repo.Operations(background) {
		if err != nil || op.ID != res.Operation || !slices.Equal(op.GitConflicts, res.Git.Conflicts) {
			t.Errorf("the operation has %+v, %v", op, err)
		}
		break
	}
}

// TestGitBackGone: a turn removed the whole repository; it comes back with its hooks.
func TestGitBackGone(t *testing.T) {
	t.Parallel()
	g := newGitRoot(t)
	g.write(".git/info/exclude", "*.log\n")
	g.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(g.path(".git/hooks/pre-commit"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := g.look()
	g.step("s", "m1", "1", func() { os.RemoveAll(g.path(".git")); g.write("file", "x") })
	opt := g.plan("s", session.Target{Start: true})
	_, res, err := g.Revert(background, "s", session.Target{Start: true}, opt)
	if err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	g.same("git", before)
	info, err := os.Stat(g.path(".git/hooks/pre-commit"))
	if err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("the hook: %v, %v", info, err)
	}
	if data, err := os.ReadFile(g.path(".git/info/exclude")); err != nil || string(data) != "*.log\n" {
		t.Errorf("info/exclude: %q, %v", data, err)
	}
	if rest, _ := filepath.Glob(g.path(".git.*")); len(rest) > 0 {
		t.Errorf("left behind: %q", rest)
	}
}

// TestGitBackNested: repositories in the work tree and submodules go back like the one around them.
func TestGitBackNested(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	g := newGitRoot(t)
	other := t.TempDir()
	g.o.Init(other)
	for _, text := range []string{"one", "two"} {
		g.o.In(other, "commit", "-q", "--allow-empty", "-m", text)
	}
	g.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub")
	g.o.In(g.root, "clone", "-q", other, "d/nested")
	g.o.In(g.root, "worktree", "add", "-q", "linked", "side")
	g.write("d/nested/file", "f")
	g.o.Commit(g.path("d/nested"), "three")
	g.git("commit", "-q", "-m", "sub")
	places := []string{"", "sub", "d/nested"}
	look := func() string {
		text := ""
		for _, place := range places {
			at := &gitRoot{&fixture{T: t, root: g.path(place)}, g.o}
			text += "in " + place + "\n" + at.look()
		}
		return text
	}
	before := look()
	g.step("s", "m1", "1", func() {
		g.o.In(g.path("sub"), "reset", "-q", "--hard", "HEAD~1")
		g.o.In(g.path("sub"), "branch", "new")
		g.o.In(g.path("d/nested"), "checkout", "-q", "-b", "topic", "HEAD~1")
		g.o.In(g.path("d/nested"), "update-ref", "-d", "refs/heads/main")
		g.o.In(g.path("d/nested"), "reflog", "expire", "--expire=now", "--all")
		g.o.In(g.path("d/nested"), "gc", "-q", "--prune=now")
	})
	after := look()
	_, res, err := g.Revert(background, "s", session.Target{Start: true}, session.MoveOptions{Git: true, DryRun: true})
	if err != nil || len(res.Git.Changes) != 6 || !strings.HasPrefix(res.Git.Changes[0], "in d/nested ") {
		t.Fatalf("%+v, %v", res.Git, err)
	}
	_, res, err = g.Revert(background, "s", session.Target{Start: true}, session.MoveOptions{Git: true, Plan: res.PlanID})
	if err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res.Git, err)
	}
	if got := look(); got != before {
		t.Errorf("back:\n%s\nwant:\n%s", got, before)
	}
	for _, place := range places {
		g.o.Fsck(g.path(place))
	}
	if _, res, err = g.Unrevert(background, "s", session.MoveOptions{Git: true, DryRun: true}); err != nil {
		t.Fatal(err)
	}
	if _, res, err = g.Unrevert(background, "s", session.MoveOptions{Git: true, Plan: res.PlanID}); err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := look(); got != after {
		t.Errorf("forth:\n%s\nwant:\n%s", got, after)
	}
}

// TestGitBackAllGone: with the repository around its submodules are gone, too, and all come back.
func TestGitBackAllGone(t *testing.T) {
	t.Parallel()
	g := newGitRoot(t)
	other := t.TempDir()
	g.o.Init(other)
	g.o.In(other, "commit", "-q", "--allow-empty", "-m", "one")
	g.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub")
	g.git("commit", "-q", "-m", "sub")
	sub := &gitRoot{&fixture{T: t, root: g.path("sub")}, g.o}
	before, below := g.look(), sub.look()
	g.step("s", "m1", "1", func() { os.RemoveAll(g.path(".git")); g.write("file", "x") })
	_, res, err := g.Revert(background, "s", session.Target{Start: true}, g.plan("s", session.Target{Start: true}))
	if err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res.Git, err)
	}
	g.same("the repository", before)
	sub.same("the submodule", below)
}
