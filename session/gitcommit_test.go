package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// gitFixture is a root that is a git repository with one commit.
type gitFixture struct {
	*fixture
	git *gittest.Oracle
}

// originals are the repositories that tests begin with.
var originals gittest.Originals

func newGitFixture(t *testing.T, tree gittest.Tree) *gitFixture {
	t.Helper()
	f := &gitFixture{newFixture(t, tree), gittest.NewOracle(t)}
	originals.Copy(t, f.root, "no commit", func(dir string) {
		f.git.Init(dir)
		f.git.In(dir, "config", "gc.auto", "0") // it may work in the background
		f.git.In(dir, "config", "maintenance.auto", "false")
	})
	f.run("add", "-A")
	f.run("commit", "-q", "-m", "first")
	return f
}

func (f *gitFixture) run(args ...string) string {
	f.Helper()
	top := f.root
	for _, err := os.Stat(filepath.Join(top, ".git")); err != nil; _, err = os.Stat(filepath.Join(top, ".git")) {
		top = filepath.Dir(top)
	}
	return f.git.In(top, append([]string{"-c", "user.name=u", "-c", "user.email=u@example.org"}, args...)...)
}

// turn is a prompt and a step that answers it.
func (f *gitFixture) turn(id, message, prompt string, do func()) {
	f.Helper()
	if _, err := f.AddMessage(background, session.MessageBegin{Session: id, Message: message, Role: session.RoleUser, Prompt: prompt}); err != nil {
		f.Fatal(err)
	}
	f.step(id, message, "step of "+message, do)
}

func (f *gitFixture) env() []string {
	return append(f.git.Env(), "GIT_AUTHOR_NAME=u", "GIT_AUTHOR_EMAIL=u@example.org", "GIT_COMMITTER_NAME=u", "GIT_COMMITTER_EMAIL=u@example.org")
}

// commit commits turns, after which the work tree is as before.
func (f *gitFixture) commit(opt session.GitCommitOptions, turns ...int) (*session.GitCommits, error) {
	f.Helper()
	opt.Env = f.env()
	work := func() gittest.Listing {
		list := gittest.Manifest(f.T, f.root, gittest.WantTimes)
		for path := range list {
			if path == "." || path == ".git" || strings.HasPrefix(path, ".git/") {
				delete(list, path)
			}
		}
		return list
	}
	before := work()
	done, err := f.CommitTurns(background, "s", turns, opt)
	gittest.AssertEqual(f.T, "the work tree", before, work())
	f.run("fsck", "--no-dangling", "--strict")
	return done, err
}

func (f *gitFixture) want(what, want, got string) {
	f.Helper()
	if want != got {
		f.Errorf("%s: got %q, want %q", what, got, want)
	}
}

const tenLines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

func (f *gitFixture) replace(name, old, text string) {
	f.Helper()
	f.write(name, strings.Replace(f.read(name), old, text, 1))
}

func TestCommitLeavesTheUsersLines(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines), "b": gittest.File("b\n"), "staged": gittest.File("old\n")})
	f.replace("a", "1\n", "user before\n")
	f.write("staged", "new\n")
	f.run("add", "staged")
	cached := f.run("diff", "--cached")
	f.turn("s", "m1", "Change five", func() { f.replace("a", "5\n", "agent\n"); f.write("new", "n\n") })
	f.replace("a", "10\n", "user after\n")
	f.write("b", "user\n")
	done, err := f.commit(session.GitCommitOptions{})
	if err != nil || len(done.Commits) != 1 {
		t.Fatal(done, err)
	}
	f.want("a in HEAD", strings.Replace(tenLines, "5\n", "agent\n", 1), f.run("show", "HEAD:a"))
	f.want("files", "a\nnew\n", f.run("show", "--format=", "--name-only", "HEAD"))
	f.want("subject", "Change five\n", f.run("log", "-1", "--format=%s"))
	f.want("staged", cached, f.run("diff", "--cached"))
	f.want("status", " M a\n M b\nM  staged\n", f.run("status", "--porcelain"))

	again, err := f.commit(session.GitCommitOptions{})
	if err != nil || len(again.Commits) != 0 || len(again.Turns) != 1 {
		t.Errorf("a committed turn: %+v, %v", again, err)
	}
}

func TestCommitRefusesWhatBuildsOnUncommittedLines(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.turn("s", "m1", "one", func() { f.replace("a", "5\n", "agent\n") })
	f.turn("s", "m2", "two", func() { f.replace("a", "agent\n", "agent again\n") })
	f.replace("a", "10\n", "user\n")
	head, index := f.run("rev-parse", "HEAD"), f.run("ls-files", "-s")
	_, err := f.commit(session.GitCommitOptions{}, 2)
	if !errors.Is(err, session.ErrBuildsOn) || !strings.Contains(err.Error(), "turn 1 changed it before") {
		t.Errorf("turn 2 alone: %v", err)
	}
	f.want("HEAD", head, f.run("rev-parse", "HEAD"))
	f.want("the index", index, f.run("ls-files", "-s"))
	if done, err := f.commit(session.GitCommitOptions{DryRun: true}); err != nil || len(done.Commits) != 2 {
		t.Errorf("a dry run: %+v, %v", done, err)
	}
	f.want("HEAD after a dry run", head, f.run("rev-parse", "HEAD"))
	if _, err := f.commit(session.GitCommitOptions{}); err != nil {
		t.Fatal(err)
	}
	f.want("subjects", "two\none\nfirst\n", f.run("log", "--format=%s"))
}

func TestCommitWithAHookThatFails(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines), "mine": gittest.File("x\n")})
	if err := os.MkdirAll(f.path(".git/hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	gittest.Program(t, f.path(".git/hooks/pre-commit"), []byte("#!/bin/sh\necho 'no such luck'\nexit 1\n"))
	f.turn("s", "m1", "one", func() { f.write("a", "agent\n"); f.write("new", "n\n") })
	f.write("mine", "y\n")
	f.run("add", "mine")
	head, index := f.run("rev-parse", "HEAD"), f.run("ls-files", "-s")
	if _, err := f.commit(session.GitCommitOptions{}); err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("got %v", err)
	}
	f.want("HEAD", head, f.run("rev-parse", "HEAD"))
	f.want("the index", index, f.run("ls-files", "-s"))
}

func TestCommitWhatGitWouldAdd(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines), "gone": gittest.File("g\n"), ".gitignore": gittest.File("ignored\n")})
	f.run("config", "core.autocrlf", "true")
	f.turn("s", "m1", "", func() {
		f.write("crlf", "x\r\ny\r\n")
		f.write("bin", "\x00\x01\r\n")
		f.write("sub/n\u00e4me", "n\n")
		f.remove("gone")
		gittest.Create(t, f.root, gittest.Tree{"link": gittest.Link("a"), "run": gittest.Exec("#!/bin/sh\n")})
	})
	if _, err := f.commit(session.GitCommitOptions{Trailers: true}); err != nil {
		t.Fatal(err)
	}
	f.want("status", "", f.run("status", "--porcelain"))
	f.want("crlf in HEAD", "x\ny\n", f.run("show", "HEAD:crlf"))
	if got := f.run("log", "-1", "--format=%B"); !strings.Contains(got, "\nCairn-Session: s\nCairn-Turn: 1\n") {
		t.Errorf("message %q", got)
	}
}

func TestCommitRefusesDuringAMerge(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.turn("s", "m1", "one", func() { f.write("a", "agent\n") })
	if err := os.WriteFile(f.path(".git/MERGE_HEAD"), []byte(f.run("rev-parse", "HEAD")), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.commit(session.GitCommitOptions{}); err == nil || !strings.Contains(err.Error(), "a merge is under way") {
		t.Errorf("got %v", err)
	}
}

func TestCommitFirstAndDetached(t *testing.T) {
	t.Parallel()
	f := &gitFixture{newFixture(t, gittest.Tree{"mine": gittest.File("m\n")}), gittest.NewOracle(t)}
	f.git.Init(f.root)
	f.turn("s", "m1", "one", func() { f.write("a", "a\n") })
	if done, err := f.commit(session.GitCommitOptions{}); err != nil || done.Branch == "" {
		t.Fatal(done, err)
	}
	f.want("status", "?? mine\n", f.run("status", "--porcelain"))
	f.run("checkout", "-q", "--detach")
	f.turn("s", "m2", "two", func() { f.write("a", "b\n") })
	if done, err := f.commit(session.GitCommitOptions{}); err != nil || done.Branch != "" || len(done.Commits) != 1 {
		t.Error(done, err)
	}
	f.want("subjects", "two\none\n", f.run("log", "--format=%s"))
}
