package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestUndoGitOnATerminal: the program shows the plan and asks; git moves after a yes and not after
// anything else.
func TestUndoGitOnATerminal(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	o, s := gittest.NewOracle(t), &undoSeat{seat: newSeat(t)}
	o.Init(s.project)
	o.Commit(s.project, "one")
	o.In(s.project, "branch", "topic")
	s.must("track")
	o.In(s.project, "branch", "-q", "-D", "topic")
	want := []string{"would create refs/heads/topic at", "Carry this out [y/N]? "}
	for _, c := range []struct {
		args   []string
		answer string
		says   string
		there  bool
	}{
		{[]string{"restore", "@", "--git"}, "no", "nothing was chosen, and nothing was done", false},
		{[]string{"restore", "@", "--git"}, "y", "to take it back: cairn undo --git", true},
		{[]string{"undo", "--git"}, "", "nothing was chosen, and nothing was done", true},
		{[]string{"undo", "--git"}, "yes", "took back: the restore", false},
	} {
		master, slave := openTerminal(t)
		cmd := exec.Command(program, c.args...)
		cmd.Dir, cmd.Env = s.project, []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH")}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		slave.Close()
		stop := time.AfterFunc(waitBound, func() { cmd.Process.Kill() })
		if c.args[0] == "undo" {
			want[0] = "would delete refs/heads/topic (was "
		}
		if _, err := master.WriteString(c.answer + "\n"); err != nil {
			t.Fatal(err)
		}
		left := append(want[:len(want):len(want)], c.says)
		for out := bufio.NewReader(master); len(left) > 0; {
			line, err := out.ReadString('\n')
			for len(left) > 0 && strings.Contains(line, left[0]) {
				left = left[1:]
			}
			if err != nil && len(left) > 0 {
				t.Fatalf("%q: %q was not said", c.args, left)
			}
		}
		_ = cmd.Wait() // the question decides the status
		stop.Stop()
		if _, err := o.Try(s.project, "rev-parse", "--verify", "topic"); (err == nil) != c.there {
			t.Errorf("%q, answer %q: the branch is there: %v", c.args, c.answer, err == nil)
		}
	}
}
