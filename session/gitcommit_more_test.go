package session_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

func TestCommitWithAHookThatReformats(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	if err := os.MkdirAll(f.path(".git/hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	gittest.Program(t, f.path(".git/hooks/pre-commit"), []byte("#!/bin/sh\nid=$(echo formatted | git hash-object -w --stdin) && git update-index --cacheinfo 100644,$id,a\n"))
	f.turn("s", "m1", "one", func() { f.write("a", "agent\n") })
	if _, err := f.commit(session.GitCommitOptions{}); err != nil {
		t.Fatal(err)
	}
	f.want("a in HEAD", "formatted\n", f.run("show", "HEAD:a"))
	f.want("staged", "", f.run("diff", "--cached"))
}

func TestCommitSigned(t *testing.T) {
	t.Parallel()
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("no ssh-keygen:", err)
	}
	f := newGitFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.git.NeedVersion(2, 34)
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f.run("config", "gpg.format", "ssh")
	f.run("config", "user.signingKey", key)
	f.run("config", "commit.gpgSign", "true")
	f.turn("s", "m1", "one", func() { f.write("a", "agent\n") })
	if _, err := f.commit(session.GitCommitOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := f.run("cat-file", "commit", "HEAD"); !strings.Contains(got, "BEGIN SSH SIGNATURE") {
		t.Errorf("not signed: %s", got)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	signers := filepath.Join(t.TempDir(), "signers")
	if err := os.WriteFile(signers, append([]byte("u@example.org "), public...), 0o600); err != nil {
		t.Fatal(err)
	}
	f.run("-c", "gpg.ssh.allowedSignersFile="+signers, "verify-commit", "HEAD")
}

func TestCommitLeavesNestedRepositoriesAndIgnoredFiles(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File("a\n"), "sub/x": gittest.File("x\n")})
	f.git.Init(f.path("sub"))
	f.turn("s", "m1", "one", func() { f.write("sub/x", "agent\n"); f.write("a", "agent\n") })
	done, err := f.commit(session.GitCommitOptions{})
	if err != nil || len(done.LeftOut) != 1 || !strings.Contains(done.LeftOut[0].Reason, "nested repository sub") {
		t.Errorf("%+v, %v", done, err)
	}
	f.want("files", "a\n", f.run("show", "--format=", "--name-only", "HEAD"))
}

func TestCommitLeavesSubmodules(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	other := t.TempDir()
	f.git.Init(other)
	gittest.Create(t, other, gittest.Tree{"x": gittest.File("x\n")})
	f.git.Commit(other, "first")
	f.run("-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "sub")
	f.run("commit", "-q", "-m", "a submodule")
	f.turn("s", "m1", "one", func() { f.write("a", "agent\n"); f.write("sub/x", "agent\n") })
	f.turn("s", "m2", "two", func() { f.write("sub/x", "more\n") })
	done, err := f.commit(session.GitCommitOptions{})
	if err != nil || len(done.Commits) != 1 || len(done.LeftOut) == 0 || !strings.Contains(done.LeftOut[0].Reason, "submodule sub") {
		t.Errorf("%+v, %v", done, err)
	}
	f.want("files", "a\n", f.run("show", "--format=", "--name-only", "HEAD"))
}

func TestCommitOfTurnsThatCancelEachOther(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File("a\n"), "b": gittest.File("b\n")})
	f.turn("s", "m1", "one", func() { f.write("a", "agent\n") })
	f.turn("s", "m2", "two", func() { f.write("a", "a\n") })
	done, err := f.commit(session.GitCommitOptions{Squash: true})
	if err != nil || len(done.Commits) != 0 || len(done.Turns) != 2 {
		t.Errorf("nothing is left: %+v, %v", done, err)
	}
	f.turn("s", "m3", "three", func() { f.write("b", "agent\n") })
	if done, err = f.commit(session.GitCommitOptions{Squash: true}); err != nil || len(done.Commits) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	f.want("files", "b\n", f.run("show", "--format=", "--name-only", "HEAD"))
	f.want("status", "", f.run("status", "--porcelain"))
}

func TestCommitSquashedCountsAsGit(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.turn("s", "m1", "one", func() { f.replace("a", "5\n", "first\n") })
	f.turn("s", "m2", "two", func() { f.replace("a", "first\n", "second\nthird\n") })
	done, err := f.commit(session.GitCommitOptions{Squash: true})
	if err != nil || len(done.Commits) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	file := done.Commits[0].Files[0]
	f.want("counts", f.run("show", "--format=", "--numstat", "HEAD"), fmt.Sprintf("%d\t%d\ta\n", file.Additions, file.Deletions))
}

// TestCommitAfterAnAmend amends the commits of turns. HEAD has their lines in another form.
func TestCommitAfterAnAmend(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.turn("s", "m1", "one", func() { f.replace("a", "5\n", "agent\n") })
	if _, err := f.commit(session.GitCommitOptions{}); err != nil {
		t.Fatal(err)
	}
	f.replace("a", "agent\n", "user\n")
	f.run("commit", "-q", "-a", "--amend", "-m", "amended")
	f.replace("a", "1\n", "uncommitted\n")
	for _, squash := range []bool{false, true} {
		done, err := f.commit(session.GitCommitOptions{Squash: squash})
		if err != nil || len(done.Commits) != 0 || len(done.Turns) != 1 || !strings.Contains(done.Turns[0].Reason, "which HEAD has no longer") {
			t.Errorf("%+v, %v", done, err)
		}
	}
	if _, err := f.commit(session.GitCommitOptions{}, 1); err == nil {
		t.Error("a turn that the caller names was passed over")
	}
	f.turn("s", "m2", "two", func() { f.replace("a", "9\n", "agent\n") })
	if done, err := f.commit(session.GitCommitOptions{Squash: true}); err != nil || len(done.Commits) != 1 || len(done.Commits[0].Turns) != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	f.want("subjects", "two\namended\nfirst\n", f.run("log", "--format=%s"))
	f.want("the user's lines", "-1\n+uncommitted\n", changedLines(f.run("diff")))
}

func TestCommitBelowTheTopOfALinkedWorktree(t *testing.T) {
	t.Parallel()
	other := "caf\xe9"
	if runtime.GOOS != "linux" { // where names are Unicode
		other = "café"
	}
	git, main, linked := gittest.NewOracle(t), t.TempDir(), filepath.Join(t.TempDir(), "linked")
	git.Init(main)
	gittest.Create(t, main, gittest.Tree{"p/a": gittest.File("a\n"), "b": gittest.File("b\n")})
	git.Commit(main, "first")
	git.In(main, "worktree", "add", "-q", linked)
	f := &gitFixture{newFixtureIn(t, filepath.Join(linked, "p"), nil), git}
	f.turn("s", "m1", "one", func() { f.write("a", "agent\n"); f.write(other, "n\n") })
	if _, err := f.commit(session.GitCommitOptions{}); err != nil {
		t.Fatal(err)
	}
	f.want("status", "", git.In(linked, "status", "--porcelain"))
	f.want("files", "p/a\x00p/"+other+"\x00", git.In(linked, "show", "--format=", "--name-only", "-z", "HEAD"))
}

func TestCommitInASparseCheckout(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"in/a": gittest.File("a\n"), "out/b": gittest.File("b\n")})
	f.run("sparse-checkout", "set", "in")
	f.turn("s", "m1", "one", func() { f.write("in/a", "agent\n") })
	if _, err := f.commit(session.GitCommitOptions{}); err != nil {
		t.Fatal(err)
	}
	f.want("status", "", f.run("status", "--porcelain"))
	f.want("files", "in/a\n", f.run("show", "--format=", "--name-only", "HEAD"))
}

func TestCommitWhereAllIsStaged(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.turn("s", "m1", "one", func() { f.replace("a", "5\n", "agent\n") })
	f.replace("a", "6\n", "user\n")
	f.run("add", "-A")
	if _, err := f.commit(session.GitCommitOptions{}); err != nil {
		t.Fatal(err)
	}
	f.want("a in HEAD", strings.Replace(tenLines, "5\n", "agent\n", 1), f.run("show", "HEAD:a"))
	f.want("staged", "-6\n+user\n", changedLines(f.run("diff", "--cached")))
}

// TestCommitBehindALink: a file behind a symlinked directory is not the staged one.
func TestCommitBehindALink(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"d/a": gittest.File(tenLines)})
	f.turn("s", "m1", "one", func() { f.replace("d/a", "5\n", "agent\n") })
	f.replace("d/a", "6\n", "user\n")
	f.run("add", "-A")
	if err := errors.Join(os.Rename(f.path("d"), f.path("e")), os.Symlink("e", f.path("d"))); err != nil {
		t.Fatal(err)
	}
	if _, err := f.commit(session.GitCommitOptions{}); err == nil || !strings.Contains(err.Error(), "staged lines overlap") {
		t.Errorf("committed: %v", err)
	}
}

// changedLines are the lines of a diff that were added or deleted.
func changedLines(diff string) (lines string) {
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---") {
			lines += line
		}
	}
	return lines
}

// TestCommitOfRandomEdits lets agent and user edit lines of their own by turns. After the commits
// git diff has exactly the user's.
func TestCommitOfRandomEdits(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range gittest.Rounds(12) {
		var text strings.Builder
		for i := range 60 {
			fmt.Fprintf(&text, "line %d\n", i)
		}
		f := newGitFixture(t, gittest.Tree{"a": gittest.File(text.String()), "b": gittest.File(text.String())})
		want := map[string]string{"a": text.String(), "b": text.String()}
		edit := func(agent bool, i int) {
			name, line := []string{"a", "b"}[rng.IntN(2)], 4*rng.IntN(15)
			if agent {
				line += 2
			}
			old := fmt.Sprintf("line %d\n", line)
			text := fmt.Sprintf("%v %d\nmore\n", agent, i)
			f.replace(name, old, text)
			if agent {
				want[name] = strings.Replace(want[name], old, text, 1)
			}
		}
		for i := range 4 {
			edit(false, 10*i)
			f.turn("s", fmt.Sprint("m", i), fmt.Sprint("turn ", i), func() { edit(true, 10*i); edit(true, 10*i+1) })
			edit(false, 10*i+2)
		}
		if _, err := f.commit(session.GitCommitOptions{Squash: rng.IntN(2) == 0}); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			f.want(name, text, f.run("show", "HEAD:"+name))
		}
		f.want("staged", "", f.run("diff", "--cached"))
	}
}

// TestCommitOfADirectoryThatBecameALink: files of a turn whose directory a later turn replaced by a symlink
// are committed.
func TestCommitOfADirectoryThatBecameALink(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.turn("s", "m1", "one", func() { f.write("d/e/b", "b\n") })
	f.turn("s", "m2", "two", func() {
		if err := errors.Join(os.RemoveAll(f.path("d")), os.Symlink("a", f.path("d"))); err != nil {
			t.Fatal(err)
		}
	})
	if done, err := f.commit(session.GitCommitOptions{}); err != nil || len(done.Commits) != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	f.want("turn 1", "b\n", f.run("show", "HEAD~1:d/e/b"))
	f.want("status", "", f.run("status", "--porcelain"))
}
