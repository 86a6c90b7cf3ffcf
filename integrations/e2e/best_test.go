//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// bestScript is what an agent does in each fork: it writes through a tool, and only the second fork passes
// the test.
var bestScript = script{
	shell("echo by $CAIRN_BEST of $CAIRN_BEST_OF > attempt.txt; rm gone.txt; mv move.txt moved.txt; test $CAIRN_BEST = 2 && echo yes > good.txt"),
	write("same.txt", "in both\n"),
	"the attempt is done",
}

// bestOf runs an agent in two forks, ranks them, and merges the winner. The hooks of the agent take the
// checkpoints: each fork has one session, and the undo of its turn leaves what the fork began with.
func (s *sandbox) bestOf(agent []string, flags ...string) {
	s.t.Helper()
	before := s.state()
	args := append([]string{"--json", "best", "2", "--session-free", "--test", "test -f good.txt"}, flags...)
	out := s.cairn(append(append(args, "--"), agent...)...)
	var res struct {
		Forks []struct {
			Number, Status int
			Root, Log      string
			Test           *struct{ Status int }
			Error          string
		}
	}
	if err := json.Unmarshal([]byte(out.stdout), &res); err != nil || len(res.Forks) != 2 {
		s.t.Fatalf("%v: %s", err, out.stdout)
	}
	s.is("the first directory, after the attempts", before)
	for i, f := range res.Forks {
		said, _ := os.ReadFile(f.Log)
		text, err := os.ReadFile(filepath.Join(f.Root, "attempt.txt"))
		if f.Number != 2-i || f.Status != 0 || f.Error != "" || f.Test == nil || (f.Test.Status == 0) != (i == 0) || err != nil || string(text) != "by "+strconv.Itoa(f.Number)+" of 2\n" {
			s.t.Fatalf("%+v, %q %v\n%s\nhooks: %s", f, text, err, last(said, 3000), s.hooksLog())
		}
		var sessions []struct{ ID string }
		if err := json.Unmarshal([]byte(s.cairn("-C", f.Root, "--json", "session", "list").stdout), &sessions); err != nil || len(sessions) != 1 {
			s.t.Fatalf("sessions of %s: %+v %v\nhooks: %s", f.Root, sessions, err, s.hooksLog())
		}
	}
	if list := s.cairn("forks").stdout; strings.Count(list, "5 paths changed")+strings.Count(list, "6 paths changed") != 2 {
		s.t.Errorf("forks:\n%s", list)
	}
	if same := s.cairn("compare", res.Forks[0].Root, res.Forks[1].Root).stdout; !strings.Contains(same, "same.txt") || !strings.Contains(same, "good.txt") {
		s.t.Errorf("compare:\n%s", same)
	}
	s.cairn("merge", res.Forks[0].Root)
	after := s.state()
	if text, err := os.ReadFile(filepath.Join(s.project, "attempt.txt")); err != nil || string(text) != "by 2 of 2\n" {
		s.t.Errorf("%q %v", text, err)
	}
	s.cairn("fork", "--remove", res.Forks[0].Root)
	s.cairn("fork", "--remove", "--force", res.Forks[1].Root)
	s.is("after the removals", after)
	s.cairn("undo")
	s.is("after the undo of the merge", before)
	if gittest.Diff(before, after) == "" {
		s.t.Error("the merge brought nothing")
	}
}

// TestBestOfPi: cairn best with pi.
func TestBestOfPi(t *testing.T) {
	withPi(t, func(t *testing.T, v piVersion) {
		s := newSandbox(t)
		s.bestOf(append(s.piArgs(v, "-p"), bestScript.prompt(t)))
	})
}

// TestBestOfClaude: cairn best with Claude Code, whose tools want absolute paths.
func TestBestOfClaude(t *testing.T) {
	needTier(t, 1)
	modules := install(t, "claude", claudePackage)
	a, _ := claude(t)
	inShell := script{bestScript[0], shell("echo in both > same.txt"), bestScript[2]}
	a.bestOf([]string{modules + "/@anthropic-ai/claude-code-linux-x64/claude", "-p", "--model", "claude-sonnet-4-5", inShell.prompt(t)})
}

// TestBestOfCodex: cairn best with Codex, which wants a git repository: each fork is a linked work tree.
func TestBestOfCodex(t *testing.T) {
	needTier(t, 1)
	s, program := codexAgent(t)
	s.bestOf([]string{program, "exec", "--json", "--dangerously-bypass-hook-trust", bestScript.prompt(t)}, "--git-worktree")
}
