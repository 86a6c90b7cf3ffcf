//go:build linux

package e2e

import (
	"strings"
	"testing"
)

// undoGit plays a turn that harms the repository in several ways, and takes it back from inside the
// agent: a typed line shows the plan, the next one carries it out.
// Without tells the agent prints no answers of hooks.
func (a *talker) undoGit(tells bool) {
	a.t.Helper()
	git := func(args ...string) string { return a.must(append([]string{"git"}, args...)...).stdout }
	look := func() string {
		return git("for-each-ref") + git("ls-files", "--stage") + git("stash", "list") + git("status", "--porcelain")
	}
	as := []string{"-c", "user.name=dev", "-c", "user.email=dev@example.com"}
	git("branch", "topic")
	git(append(as, "commit", "-q", "--allow-empty", "-m", "two")...)
	a.must("sh", "-c", "echo stashed >>edit.txt")
	git(append(as, "stash", "-q")...)
	before, files := look(), a.state()
	a.play(script{
		shell("git reset -q --hard HEAD~1 && git branch -D topic && git stash drop && git reflog expire --expire=now --all && git gc -q --prune=now"),
		shell("git checkout -q -b other && rm gone.txt && git add -A"),
		"the agent has tidied up",
	})
	after := look()
	if after == before {
		a.t.Fatal("the turn did not move git")
	}
	if out := a.say("cairn undo --git"); tells && !strings.Contains(out.stdout+out.stderr, "to do exactly this, type: cairn undo --git --plan ") {
		a.t.Errorf("the plan is not shown: %s %s", last([]byte(out.stdout), 1000), last([]byte(out.stderr), 1000))
	}
	if look() != after {
		a.t.Error("a plan moved git")
	}
	a.say("cairn undo --git --yes")
	if got := look(); got != before {
		a.t.Errorf("after the undo:\n%s\nwant:\n%s", got, before)
	}
	a.is("after the undo", files)
	git("fsck", "--strict")
	a.say("cairn redo --git --yes")
	if got := look(); got != after {
		a.t.Errorf("after the redo:\n%s\nwant:\n%s", got, after)
	}
}

func TestClaudeUndoGit(t *testing.T) {
	needTier(t, 1)
	a, _ := claude(t)
	a.undoGit(true)
}

func TestCodexUndoGit(t *testing.T) {
	needTier(t, 1)
	codex(t).undoGit(false)
}
