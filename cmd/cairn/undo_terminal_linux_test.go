package main

import (
	"bufio"
	"maps"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
)

// TestOneUndo_OnATerminal: the program asks on a terminal, and not where stdin is something else.
func TestOneUndo_OnATerminal(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	for _, onTerminal := range []bool{true, false} {
		s := &undoSeat{seat: newSeat(t)}
		s.must("track")
		s.do("turn a")
		s.do("restore")
		master, slave := openTerminal(t)
		cmd := exec.Command(program, "undo")
		cmd.Dir, cmd.Env = s.project, []string{"HOME=" + s.home}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		want := []string{"cairn can take back:", `  2  the turn "turn i" of session a`, "Which one [1-2, q]? ", "deleted f-i"}
		if !onTerminal {
			cmd.Stdin = strings.NewReader("2\n")
			want = []string{"cairn: the newest of 2 counts; --session a names another one", "restored new"}
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		slave.Close()
		stop := time.AfterFunc(waitBound, func() { cmd.Process.Kill() })
		if _, err := master.WriteString("2\n"); err != nil {
			t.Fatal(err)
		}
		for out := bufio.NewReader(master); len(want) > 0; {
			line, err := out.ReadString('\n')
			if strings.Contains(line, want[0]) {
				want = want[1:]
			}
			if err != nil && len(want) > 0 {
				t.Fatalf("on a terminal: %v: %q was not said", onTerminal, want)
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		stop.Stop()
	}
}

// TestCtrlCAtAHunk: Ctrl-C at the question about a hunk ends the command as an interrupt does, whatever was
// answered before, and nothing goes back.
func TestCtrlCAtAHunk(t *testing.T) {
	t.Parallel()
	for _, answers := range []int{0, 1} {
		s := newSeat(t)
		s.write("a", "1\n")
		s.write("b", "1\n")
		s.must("track")
		s.write("a", "2\n")
		s.write("b", "2\n")
		before := s.listing()
		term := s.startOnTerminal(nil, "revert", "@", "-p")
		asked := func(times int) {
			t.Helper()
			until(t, "a question", func() {}, func() bool { return strings.Count(term.written(), "?]? ") == times })
		}
		for i := range answers {
			asked(i + 1)
			term.press("y\n")
		}
		asked(answers + 1)
		term.press("\x03")
		if shown, status := term.finished(); status != cli.ExitInterrupted || !strings.Contains(shown, "interrupted") {
			t.Errorf("after %d answers: status %d: %q", answers, status, shown)
		}
		if after := s.listing(); !maps.Equal(after, before) {
			t.Errorf("after %d answers files went back: %v", answers, after)
		}
	}
}
