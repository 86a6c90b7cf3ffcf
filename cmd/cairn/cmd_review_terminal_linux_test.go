package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

var updateScreens = flag.Bool("update-screens", false, "write the screens in testdata anew")

// newReviewed is a home with a session of three turns.
func newReviewed(t *testing.T) *seat {
	t.Helper()
	s := newSeat(t)
	s.must("session", "begin", "demo", "--title", "Numbers", "--meta", "agent=claude")
	turn := func(message, prompt, text string) {
		s.must("session", "step", "begin", "demo", "--message", message, "--step", message, "--role", "user", "--prompt", prompt)
		s.write("a", text)
		s.must("session", "step", "end", "demo")
	}
	const lines = "2\n3\n4\n5\n6\n7\n8\n"
	turn("m0", "Begin", "1\n"+lines)
	turn("m1", "Say \x1b[31mone", "\x1b[31mred\n"+lines)
	turn("m2", "Say two", "\x1b[31mred\n"+lines+"last\n")
	return s
}

// onTerminal is a review on a pseudo-terminal.
type onTerminal struct {
	*seat
	cmd    *exec.Cmd
	master *os.File
	before *unix.Termios

	mu     sync.Mutex
	out    bytes.Buffer
	closed chan struct{}
}

func (s *seat) onTerminal(args ...string) *onTerminal {
	s.Helper()
	return s.startOnTerminal(nil, append([]string{"review"}, args...)...)
}

// startOnTerminal starts the program on a pseudo-terminal, with variables beside the usual ones.
func (s *seat) startOnTerminal(env []string, args ...string) *onTerminal {
	s.Helper()
	defaultSignals()
	program, err := exec.LookPath("cairn")
	if err != nil {
		s.Fatal(err)
	}
	master, slave := openTerminal(s.T)
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		s.Fatal(err)
	}
	term := &onTerminal{seat: s, master: master, closed: make(chan struct{})}
	if term.before, err = unix.IoctlGetTermios(int(master.Fd()), unix.TCGETS); err != nil {
		s.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = s.project, append([]string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8"}, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	slave.Close()
	term.cmd = cmd
	timer := time.AfterFunc(waitBound, func() { cmd.Process.Kill() })
	s.Cleanup(func() { timer.Stop() })
	go term.read()
	return term
}

// read collects what the program writes, until it is gone.
func (term *onTerminal) read() {
	defer close(term.closed)
	part := make([]byte, 4096)
	for {
		n, err := term.master.Read(part)
		term.mu.Lock()
		term.out.Write(part[:n])
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (term *onTerminal) written() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.out.String()
}

// until asks again until something is so, and does something before each time.
func until(t *testing.T, what string, before func(), isSo func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(waitBound); !isSo(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not yet: %s", what)
		}
		before()
	}
}

func (term *onTerminal) wants(text string) {
	term.Helper()
	until(term.T, "the terminal shows "+text, func() {}, func() bool { return strings.Contains(term.written(), text) })
}

func (term *onTerminal) press(keys string) {
	term.Helper()
	if _, err := term.master.WriteString(keys); err != nil {
		term.Fatal(err)
	}
}

// ends waits for the end of the program, which leaves the terminal as it was.
func (term *onTerminal) ends(status int) {
	term.Helper()
	term.cmd.Wait()
	if got := term.cmd.ProcessState.ExitCode(); got != status {
		term.Errorf("status %d, want %d", got, status)
	}
	<-term.closed
	out := term.written()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?1002h": "\x1b[?1002l", "\x1b[?25l": "\x1b[?25h", "\x1b[?2004h": "\x1b[?2004l"} {
		if !strings.Contains(out, on) || strings.LastIndex(out, off) < strings.LastIndex(out, on) {
			term.Errorf("%q is not followed by %q", on, off)
		}
	}
	if strings.Contains(out, "\x1b[31m") {
		term.Error("an escape sequence of a file has reached the terminal")
	}
}

func (s *seat) listing() gittest.Listing { return gittest.Manifest(s.T, s.project) }

// TestReviewOnTerminal: a turn goes back and comes again, byte for byte, and the terminal is left
// as it was found.
func TestReviewOnTerminal(t *testing.T) {
	t.Parallel()
	s := newReviewed(t)
	term := s.onTerminal()
	term.wants("Say two")
	before := s.listing()
	same := func() bool { return maps.Equal(before, s.listing()) }
	term.press("jx")
	until(t, "the turn is taken back", func() { term.press("y") }, func() bool { return !same() })
	if data, err := os.ReadFile(filepath.Join(s.project, "a")); err != nil || string(data) != "1\n2\n3\n4\n5\n6\n7\n8\nlast\n" {
		t.Errorf("a is %q, %v", data, err)
	}
	until(t, "the turn is back", func() { term.press("uy") }, same)
	now, err := unix.IoctlGetTermios(int(term.master.Fd()), unix.TCGETS)
	if err != nil || *now == *term.before {
		t.Errorf("the terminal is not in raw mode: %v", err)
	}
	term.press("q") // the undo may still be recorded
	term.ends(cli.ExitDone)
}

// TestReviewLeft: Ctrl-C leaves the review where nothing is under way.
func TestReviewLeft(t *testing.T) {
	t.Parallel()
	term := newReviewed(t).onTerminal()
	term.wants("Say two")
	term.press("\x03")
	term.ends(cli.ExitDone)
}

// TestReviewInterrupted: Ctrl-C while files are being changed ends as in other commands, and says that the next one
// finishes the change.
func TestReviewInterrupted(t *testing.T) {
	t.Parallel()
	s := newReviewed(t)
	term := s.onTerminal()
	term.wants("Say two")
	term.press("jx")
	term.wants("do it")
	locks, err := filepath.Glob(filepath.Join(s.home, ".local", "share", "cairn", "snapshot", "*", "cairn", "lock"))
	if err != nil || len(locks) != 1 {
		t.Fatal(locks, err)
	}
	lock, err := os.Open(locks[0])
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	term.press("y")
	term.wants("changing files")
	term.press("\x03")
	term.ends(cli.ExitInterrupted)
	if out := term.written(); !strings.Contains(out, "interrupted; if it had begun to change files, the next cairn command finishes it") {
		t.Errorf("%q", out[strings.LastIndex(out, "1049l"):])
	}
}

// TestReviewEndsBySignal: a signal ends it as other commands, and the screen is back.
func TestReviewEndsBySignal(t *testing.T) {
	t.Parallel()
	term := newReviewed(t).onTerminal("@", "--color=never")
	term.wants("Say two")
	if err := term.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	term.ends(cli.ExitInterrupted)
	if out := term.written(); strings.Contains(out, "38;5;") || strings.Contains(out, "48;5;") {
		t.Error("colours in spite of --color=never")
	}
}

// TestReviewOfNothing: an unknown name is an error before the screen changes.
func TestReviewOfNothing(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"nothing", "nothing..@", "nothing:m1"} {
		term := newReviewed(t).onTerminal(spec)
		term.cmd.Wait()
		<-term.closed
		if status, out := term.cmd.ProcessState.ExitCode(), term.written(); status != cli.ExitNotFound || strings.Contains(out, "\x1b[?1049h") {
			t.Errorf("%s: status %d: %q", spec, status, out)
		}
	}
}

// tmux is a review in tmux, which knows what a terminal shows.
type tmux struct {
	*seat
	socket string
}

func (s *seat) tmux(width, height int) *tmux {
	s.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		s.Skipf("no tmux here: %v", err)
	}
	program, err := exec.LookPath("cairn")
	if err != nil {
		s.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "tmux") // short: sockets have short paths
	if err != nil {
		s.Fatal(err)
	}
	t := &tmux{s, filepath.Join(dir, "s")}
	s.Cleanup(func() {
		t.command("kill-server")
		os.RemoveAll(dir)
	})
	t.must("new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", s.project,
		fmt.Sprintf("env -i HOME='%s' TERM=tmux-256color LANG=C.UTF-8 '%s' review; echo status $?; read line", s.home, program))
	return t
}

func (t *tmux) command(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", t.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color", "HOME=" + t.home}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (t *tmux) must(args ...string) string {
	t.Helper()
	out, err := t.command(args...)
	if err != nil {
		t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return out
}

func (t *tmux) press(keys ...string) { t.must(append([]string{"send-keys"}, keys...)...) }

// screen is what tmux shows, with times replaced.
func (t *tmux) screen() string {
	t.Helper()
	text := t.must("capture-pane", "-p")
	for pattern, instead := range map[string]string{
		`\b\d\d:\d\d\b`: "hh:mm", `(just now|\d+ [a-z]+ ago) *`: "ago", `(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d+ [A-Z][a-z]{2}`: "Day d Mon",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, instead)
	}
	return text
}

func (t *tmux) wants(texts ...string) string {
	t.Helper()
	var screen string
	until(t.T, fmt.Sprintf("the screen shows %q", texts), func() {}, func() bool {
		screen = t.screen()
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
	return screen
}

// TestReviewInTmux compares screens of a real terminal with files, in two sizes.
func TestReviewInTmux(t *testing.T) {
	t.Parallel()
	term := newReviewed(t).tmux(120, 30)
	golden(t, "review-list", term.wants("3 turns", "+1 -0", "hunk 1 of 1", "last"))
	term.press("j", "Enter", "Enter")
	term.wants("+1 -1", "@@ -1,4 +1,4 @@", "Esc files")
	term.press("a")
	golden(t, "review-accepted", term.wants("1 hunk accepted", "✓ accepted", `+ \x1b[31mred`))
	term.press("x")
	golden(t, "review-plan", term.wants("Take back 1 hunk of a", "modify  a", "do it"))
	term.press("n", "Escape")
	term.must("resize-window", "-x", "80", "-y", "24")
	golden(t, "review-narrow", term.wants("? help  Esc turns", "M a", "claude"))
	term.press("q")
	if screen := term.wants("status 0"); strings.Contains(screen, "cairn review") {
		t.Errorf("the screen is not back:\n%s", screen)
	}
}

// golden compares a screen with a file.
func golden(t *testing.T, name, screen string) {
	t.Helper()
	gittest.AssertGolden(t, filepath.Join("testdata", name+".txt"), screen, *updateScreens)
}
