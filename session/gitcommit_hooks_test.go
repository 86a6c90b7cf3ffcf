package session_test

import (
	"os"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// hook writes a hook of the user.
func (f *gitFixture) hook(name, script string) {
	f.Helper()
	if err := os.MkdirAll(f.path(".git/hooks"), 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.RemoveAll(f.path(".git/hooks/" + name)); err != nil {
		f.Fatal(err)
	}
	gittest.Program(f.T, f.path(".git/hooks/"+name), []byte("#!/bin/sh\n"+script))
}

// twoTurns is a repository with a staged change of the user and two turns of the agent.
func twoTurns(t *testing.T) *gitFixture {
	t.Helper()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines), "mine": gittest.File("x\n")})
	f.write("mine", "y\n")
	f.run("add", "mine")
	f.turn("s", "m1", "one", func() { f.replace("a", "5\n", "agent\n"); f.write("new", "n\n") })
	f.turn("s", "m2", "two", func() { f.replace("a", "9\n", "again\n") })
	f.replace("a", "1\n", "user\n")
	return f
}

func TestCommitWithHooksThatRefuse(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for _, name := range []string{"pre-commit", "prepare-commit-msg", "commit-msg"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := twoTurns(t)
			f.hook(name, "echo \"$0 says no\" >&2\nexit 1\n")
			before := f.state()
			done, err := f.commit(session.GitCommitOptions{})
			if err == nil || !strings.Contains(err.Error(), name+" says no") || done != nil {
				t.Errorf("got %+v, %v", done, err)
			}
			f.want("the repository", before, f.state())
		})
	}
}

// TestCommitWhileTheIndexIsRefreshed lets git status write the index while a hook runs that refuses.
func TestCommitWhileTheIndexIsRefreshed(t *testing.T) {
	t.Parallel()
	f := twoTurns(t)
	f.hook("pre-commit", "unset GIT_INDEX_FILE\ngit update-index -q --really-refresh --force-write-index\nexit 1\n")
	f.git.NeedVersion(2, 39)
	before := f.run("status", "--porcelain=v2", "--branch")
	index := f.run("ls-files", "-s")
	if done, err := f.commit(session.GitCommitOptions{}); err == nil || strings.Contains(err.Error(), "stays staged") {
		t.Errorf("got %+v, %v", done, err)
	}
	f.want("the repository", before, f.run("status", "--porcelain=v2", "--branch"))
	f.want("the index", index, f.run("ls-files", "-s"))
}

func TestCommitWithAHookThatRefusesTheSecond(t *testing.T) {
	t.Parallel()
	f := twoTurns(t)
	cached := f.run("diff", "--cached")
	f.hook("commit-msg", "! grep -q two \"$1\"\n")
	done, err := f.commit(session.GitCommitOptions{})
	if err == nil || done == nil || len(done.Commits) != 1 {
		t.Fatalf("got %+v, %v", done, err)
	}
	f.want("subjects", "one\nfirst\n", f.run("log", "--format=%s"))
	f.want("staged", cached, f.run("diff", "--cached"))
	f.want("the other lines", "-1\n+user\n-9\n+again\n", changedLines(f.run("diff")))
	f.hook("commit-msg", "exit 0\n")
	if done, err = f.commit(session.GitCommitOptions{}); err != nil || len(done.Commits) != 1 || done.Commits[0].Turns[0] != 2 {
		t.Errorf("again: %+v, %v", done, err)
	}
	f.want("staged", cached, f.run("diff", "--cached"))
	f.want("the user's lines", "-1\n+user\n", changedLines(f.run("diff")))
}

func TestCommitWithAHookThatRewritesTheMessage(t *testing.T) {
	t.Parallel()
	f := twoTurns(t)
	f.hook("prepare-commit-msg", "echo \"JIRA-1 $(cat \"$1\")\" >\"$1\"\n")
	f.hook("post-commit", "echo done >&2\n")
	done, err := f.commit(session.GitCommitOptions{})
	if err != nil || len(done.Commits) != 2 || !strings.Contains(done.Commits[0].Output, "done") {
		t.Fatalf("%+v, %v", done, err)
	}
	f.want("subjects", "JIRA-1 two\nJIRA-1 one\nfirst\n", f.run("log", "--format=%s"))
}

// TestCommitWithHooksThatCommit lets a hook amend the commit, and another one make a second commit.
func TestCommitWithHooksThatCommit(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, c := range map[string]struct{ script, subjects string }{
		"amend":       {"test -n \"$INNER\" || INNER=1 git commit -q --amend --no-edit --allow-empty\n", "two\none\nfirst\n"},
		"empty":       {"test -n \"$INNER\" || INNER=1 git commit -q --allow-empty -m more\n", "more\ntwo\nmore\none\nfirst\n"},
		"a file more": {"test -n \"$INNER\" || { echo \"$$\" >>log; git add log; INNER=1 git commit -q -m more; }\n", "more\ntwo\nmore\none\nfirst\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := twoTurns(t)
			cached := f.run("diff", "--cached")
			f.hook("post-commit", c.script)
			done, err := f.CommitTurns(background, "s", nil, session.GitCommitOptions{Env: f.env()})
			if err != nil || len(done.Commits) != 2 {
				t.Fatalf("%+v, %v", done, err)
			}
			f.want("subjects", c.subjects, f.run("log", "--format=%s"))
			f.want("staged", cached, f.run("diff", "--cached"))
			f.want("the user's lines", "-1\n+user\n", changedLines(f.run("diff")))
			again, err := f.commit(session.GitCommitOptions{})
			if err != nil || len(again.Commits) != 0 {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

// TestCommitWhileAHookCommits lets another commit happen while a hook of the first one runs. Git
// refuses to move the branch, and no line is lost.
func TestCommitWhileAHookCommits(t *testing.T) {
	t.Parallel()
	f := twoTurns(t)
	f.hook("pre-commit", "test -n \"$INNER\" || { unset GIT_INDEX_FILE; INNER=1 git commit -q -m user; }\n")
	if done, err := f.commit(session.GitCommitOptions{}, 1); err == nil {
		t.Errorf("got %+v", done)
	}
	f.want("subjects", "user\nfirst\n", f.run("log", "--format=%s"))
	f.want("the user's lines", "-1\n+user\n-9\n+again\n", changedLines(f.run("diff")))
	os.Remove(f.path(".git/hooks/pre-commit"))
	if _, err := f.commit(session.GitCommitOptions{}, 2); err != nil {
		t.Error(err)
	}
	f.want("the user's lines", "-1\n+user\n", changedLines(f.run("diff")))
	f.want("a in HEAD", strings.NewReplacer("5\n", "agent\n", "9\n", "again\n").Replace(tenLines), f.run("show", "HEAD:a"))
}

func TestCommitWhileTheIndexIsLocked(t *testing.T) {
	t.Parallel()
	f := twoTurns(t)
	lock := f.path(".git/index.lock")
	f.run("status")
	before := f.state()
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.commit(session.GitCommitOptions{}); err == nil || !strings.Contains(err.Error(), "index.lock exists") {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	f.want("the repository", before, f.state())
}

// TestCommitNamesALockOnALineOfItsOwn: what git said and the lock that it left behind are two lines.
func TestCommitNamesALockOnALineOfItsOwn(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.turn("s", "m1", "one", func() { f.write("a", "agent\n") })
	f.write(".git/HEAD.lock", "")
	_, err := f.commit(session.GitCommitOptions{})
	if err == nil {
		t.Fatal("committed beside a lock")
	}
	lines := wording.Messages(err)
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "turn 1 is not committed: git commit: ") || !strings.HasSuffix(lines[1], "HEAD.lock exists: remove it if no git runs") {
		t.Errorf("%q", lines)
	}
}
