package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/pager"
)

// newPaged is a project with more lines than a screen has.
func newPaged(t *testing.T) *seat {
	t.Helper()
	defaultSignals()
	s := newSeat(t)
	s.must("track", "-m", "first")
	s.write("a", strings.Repeat("many\n", 50_000))
	s.must("track", "-m", "second")
	return s
}

// finished is what the terminal shows and the status of a program that ends by itself.
func (term *onTerminal) finished() (shown string, status int) {
	term.Helper()
	<-term.closed
	term.cmd.Wait()
	return strings.ReplaceAll(term.written(), "\r\n", "\n"), term.cmd.ProcessState.ExitCode()
}

// marking is a pager that can be told from none, and says its variables.
const marking = `CAIRN_PAGER=sed 's/^/| /'; echo "end $LESS $LV"`

func TestPagerOnTerminal(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	s := newPaged(t)
	for _, c := range []struct {
		command string
		env     []string
		pages   bool
	}{
		{"log", []string{marking}, true},
		{"log", []string{strings.Replace(marking, "CAIRN_", "", 1)}, true},
		{"diff @~1 @ --stat", []string{marking}, true},
		{"show --stat", []string{marking}, true},
		{"blame b", []string{marking}, true},
		{"grep 2", []string{marking}, true},
		{"help log", []string{marking}, true},
		{"status", []string{marking}, false},
		{"ls @", []string{marking}, false},
		{"log --no-pager", []string{marking}, false},
		{"--no-pager log", []string{marking}, false},
		{"log --json", []string{marking}, false},
		{"log", []string{marking, "CLAUDECODE=1"}, false},
		{"log", []string{"CAIRN_PAGER=", "PAGER=false"}, false},
		{"log", []string{"CAIRN_PAGER=cat", "PAGER=false"}, false},
		{"log", []string{"PAGER="}, false},
	} {
		shown, status := s.startOnTerminal(c.env, strings.Fields(c.command)...).finished()
		paged := strings.HasPrefix(shown, "| ") && strings.HasSuffix(shown, "\nend FRX -c\n")
		if status != cli.ExitDone || paged != c.pages || strings.Contains(shown, "end ") != paged {
			t.Errorf("%s with %q: status %d:\n%.300s", c.command, c.env, status, shown)
		}
	}
	shown, _ := s.startOnTerminal([]string{marking, "LESS=", "LV=x"}, "log").finished()
	if !strings.HasSuffix(shown, "\nend  x\n") {
		t.Errorf("variables that are set stay: %q", shown)
	}
}

// TestPagerQuitsEarly: a pager that does not want the rest ends the command without a word.
func TestPagerQuitsEarly(t *testing.T) {
	t.Parallel()
	s := newPaged(t)
	for _, command := range []string{"diff @~1 @", "show", "grep many", "blame a"} {
		shown, status := s.startOnTerminal([]string{"CAIRN_PAGER=head -n 1"}, append(strings.Fields(command), "--color=never")...).finished()
		if status != cli.ExitDone || strings.Count(shown, "\n") != 1 {
			t.Errorf("%s: status %d: %.300q", command, status, shown)
		}
	}
}

// TestPagerIsMissing: the answer comes without one. Only a pager that a variable names is missed.
func TestPagerIsMissing(t *testing.T) {
	t.Parallel()
	s := newPaged(t)
	shown, status := s.startOnTerminal([]string{"CAIRN_PAGER=no-such-pager"}, "log").finished()
	if status != cli.ExitDone || !strings.Contains(shown, "second") || !strings.Contains(shown, "cairn: warning: cannot show this page by page: ") {
		t.Errorf("status %d: %q", status, shown)
	}
	shown, status = s.startOnTerminal([]string{"PATH=" + t.TempDir()}, "log").finished()
	if status != cli.ExitDone || !strings.Contains(shown, "second") || strings.Contains(shown, "cairn: ") {
		t.Errorf("without less: status %d: %q", status, shown)
	}
}

// TestPagerHasTheError: a command that fails needs no pager, and one that fails later is heard when
// the pager has ended.
func TestPagerHasTheError(t *testing.T) {
	t.Parallel()
	s := newPaged(t)
	for command, want := range map[string]int{"show nothing": cli.ExitNotFound, "grep nowhere": cli.ExitNotFound, "log --since never": cli.ExitUsage} {
		shown, status := s.startOnTerminal([]string{marking}, strings.Fields(command)...).finished()
		if status != want || strings.Contains(shown, "end ") {
			t.Errorf("%s: status %d: %q", command, status, shown)
		}
	}
}

// TestPagerGetsCtrlC: the program outlives Ctrl-C as long as the pager does.
func TestPagerGetsCtrlC(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("counts-signals")
	if err != nil {
		t.Fatal(err)
	}
	s := newPaged(t)
	term := s.startOnTerminal([]string{"CAIRN_PAGER=echo me $$; exec " + program}, "diff", "@~1", "@")
	term.wants("ready")
	for _, want := range []string{"interrupt 1", "interrupt 2", "interrupt 3"} {
		term.press("\x03")
		term.wants(want)
	}
	fields := strings.Fields(term.written())
	pid := fields[slices.Index(fields, "me")+1]
	if err := exec.Command("kill", pid).Run(); err != nil {
		t.Fatal(err)
	}
	shown, status := term.finished()
	if status != cli.ExitInterrupted || !strings.HasSuffix(shown, "terminated:1]\ncairn: interrupted\n") {
		t.Errorf("status %d: %q", status, shown)
	}
}

// TestLinksOnTerminal: a terminal that is known to show links gets them, also through less.
func TestLinksOnTerminal(t *testing.T) {
	t.Parallel()
	s := newPaged(t)
	for _, c := range []struct {
		command string
		env     []string
		linked  bool
	}{
		{"ls @", []string{"TERM_PROGRAM=WezTerm"}, true},
		{"ls @", []string{"TERM_PROGRAM=WezTerm", "FORCE_HYPERLINK=0"}, false},
		{"ls @", nil, false},
		{"ls @ --json", []string{"TERM_PROGRAM=WezTerm"}, false},
		{"grep -l many", []string{"TERM_PROGRAM=WezTerm", "CAIRN_PAGER=sed 1q"}, false},
		{"grep -l many --hyperlink", []string{"CAIRN_PAGER=sed 1q"}, true},
		{"grep -l many", []string{"TERM_PROGRAM=WezTerm"}, pager.ShowsLinks("less", os.LookupEnv)},
	} {
		shown, status := s.startOnTerminal(c.env, strings.Fields(c.command)...).finished()
		if linked := strings.Contains(shown, "/project/a\x1b\\"); status != cli.ExitDone || linked != c.linked {
			t.Errorf("%s with %q: status %d: %q", c.command, c.env, status, shown)
		}
	}
}

// TestLess: the usual pager shows a page, and leaves by q. A short answer needs no key.
func TestLess(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("less"); err != nil {
		t.Skipf("no less here: %v", err)
	}
	s := newPaged(t)
	if shown, status := s.startOnTerminal(nil, "log").finished(); status != cli.ExitDone || !strings.Contains(shown, "second") {
		t.Errorf("status %d: %q", status, shown)
	}
	term := s.startOnTerminal(nil, "diff", "@~1", "@")
	term.wants("\x1b[32mmany")
	term.press("\x03")
	closed := func() bool {
		select {
		case <-term.closed:
			return true
		default:
			return false
		}
	}
	until(t, "less has ended", func() { term.press("q") }, closed)
	// The end of less can be heard before the interrupt: q follows it at once. TestPagerGetsCtrlC has the status.
	if shown, status := term.finished(); strings.Count(shown, "many") > 60 || status != cli.ExitInterrupted && status != cli.ExitDone {
		t.Errorf("status %d: %d lines", status, strings.Count(shown, "many"))
	}
}
