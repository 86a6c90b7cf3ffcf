//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// countSignals is a command that counts the signals it gets and ends with the first
// SIGTERM.
func countSignals() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1)
	fmt.Println("ready")
	counts := make(map[string]int)
	for s := range signals {
		if counts[s.String()]++; s == syscall.SIGTERM {
			fmt.Println("total", counts)
			os.Exit(42)
		}
		fmt.Println(s, counts[s.String()])
	}
}

// running is a cairn run, or a cairn test, that was started in a project of its own.
type running struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bufio.Reader
	err strings.Builder
	dir string
}

// waitBound ends a test that hangs; nothing depends on how fast the machine is.
const waitBound = time.Minute

// defaultSignals lets commands start with the default handling of signals, even if this
// process was started with some ignored, as a shell does for commands in its
// background. A child does not inherit handlers. It is called for each command, because
// a test of signals may have reset them.
func defaultSignals() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1)
}

func startRun(t *testing.T, args ...string) *running {
	t.Helper()
	return startChild(t, "run", args...)
}

// startChild starts a command of cairn that runs another one.
func startChild(t *testing.T, verb string, args ...string) *running {
	t.Helper()
	defaultSignals()
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, dir: filepath.Join(t.TempDir(), "project")}
	gittest.Create(t, r.dir, gittest.Tree{"a": gittest.File("1\n")})
	r.cmd = exec.Command(program, append([]string{verb, "--"}, args...)...)
	r.cmd.Dir, r.cmd.Stderr = r.dir, &r.err
	r.cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
	stdout, err := r.cmd.StdoutPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(waitBound, func() { syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) })
	t.Cleanup(func() { timer.Stop() })
	r.out = bufio.NewReader(stdout)
	return r
}

func (r *running) expect(want string) {
	r.t.Helper()
	line, err := r.out.ReadString('\n')
	if strings.TrimSpace(line) != want {
		r.t.Fatalf("got %q, %v, want %q; stderr %s", line, err, want, r.err.String())
	}
}

func (r *running) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) ends(status int) {
	r.t.Helper()
	io.Copy(io.Discard, r.out)
	r.cmd.Wait()
	if got := r.cmd.ProcessState.ExitCode(); got != status {
		r.t.Fatalf("status %d, not %d; stderr %s", got, status, r.err.String())
	}
}

// TestRunPassesSignalsOn: a signal to cairn alone reaches the command once, and cairn
// goes on until the command ends.
func TestRunPassesSignalsOn(t *testing.T) {
	t.Parallel()
	r := startRun(t, "counts-signals")
	r.expect("ready")
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1} {
		r.signal(s)
		r.expect(s.String() + " 1")
	}
	r.signal(syscall.SIGINT)
	r.expect("interrupt 2")
	r.signal(syscall.SIGTERM)
	r.expect("total map[hangup:1 interrupt:2 quit:1 terminated:1 user defined signal 1:1]")
	r.ends(42)
}

// TestInterruptedTest: a test that was interrupted notes nothing, whatever status the command has made of it.
func TestInterruptedTest(t *testing.T) {
	t.Parallel()
	r := startChild(t, "test", "counts-signals")
	r.expect("ready")
	r.signal(syscall.SIGTERM)
	r.expect("total map[terminated:1]")
	r.ends(42)
	noted, err := r.open().TestResults(t.Context())
	if err != nil || len(noted) > 0 || !strings.Contains(r.err.String(), "no result is noted: interrupted") {
		t.Errorf("%v, %v, stderr %s", noted, err, r.err.String())
	}
}

// TestRunOfKilledCommand: the status is 128 and the signal, as shells have it.
func TestRunOfKilledCommand(t *testing.T) {
	t.Parallel()
	for s, status := range map[string]int{"TERM": 143, "KILL": 137, "INT": 130} {
		startRun(t, "sh", "-c", "kill -"+s+" $$").ends(status)
	}
}

// TestRunWithIgnoredSignals: what nohup has set to be ignored stays so for the
// command.
func TestRunWithIgnoredSignals(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	// The shell ignores the signal and becomes cairn; the inner one inherits that.
	script := fmt.Sprintf("trap '' HUP; exec '%s' run -- sh -c 'kill -HUP $$; echo survived; exit 3'", program)
	r := startRun(t, "sh", "-c", script)
	r.expect("survived")
	r.ends(3)
}

// TestRunBursts: files that have come to rest are a step while the command goes on,
// and the bursts go back one by one or all at once.
func TestRunBursts(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	const line = `echo 2 > a; echo new > b; until test -e ../burst-2; do sleep 0.05; done
		rm a; echo 3 > b; until test -e ../burst-3; do sleep 0.05; done; mkdir -p d e; echo 4 > d/f`
	r := startRun(t, "sh", "-c", line)
	before := gittest.Tree{"a": gittest.File("1\n")}
	sessions := session.New(r.open())
	for n := 2; n <= 3; n++ {
		id := r.awaitBurst(sessions, n)
		gittest.Create(t, filepath.Dir(r.dir), gittest.Tree{fmt.Sprint("burst-", n): gittest.File(id)})
	}
	r.ends(0)
	if !strings.Contains(r.err.String(), "3 bursts of changes; to take it back: cairn session revert run-") {
		t.Errorf("stderr %s", r.err.String())
	}
	after := gittest.Manifest(t, r.dir)
	id := r.awaitBurst(sessions, 3)
	for range 2 {
		if _, _, err := sessions.UndoTurn(t.Context(), id, session.MoveOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	gittest.AssertTree(t, r.dir, gittest.Tree{"a": gittest.File("2\n"), "b": gittest.File("new\n")})
	if _, _, err := sessions.Revert(t.Context(), id, session.Target{Start: true}, session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	gittest.AssertTree(t, r.dir, before)
	if _, _, err := sessions.Unrevert(t.Context(), id, session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	gittest.AssertEqual(t, "all brought back", after, gittest.Manifest(t, r.dir))
}

// open opens the project's store beside the run.
func (r *running) open() *cairn.Repo {
	r.t.Helper()
	home := strings.TrimPrefix(r.cmd.Env[0], "HOME=")
	c := newProgram(strings.NewReader(""), io.Discard, io.Discard, homeOnly(home), r.dir)
	c.Running = "run"
	repo, err := c.Open()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { repo.Close() })
	return repo
}

// awaitBurst waits until the nth burst has begun and returns the session's id.
func (r *running) awaitBurst(sessions *session.Sessions, n int) string {
	r.t.Helper()
	for deadline := time.Now().Add(waitBound); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		list, err := sessions.List(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		if len(list) == 1 && list[0].Steps >= n && strings.HasPrefix(list[0].Title, "sh -c ") {
			return list[0].ID
		}
	}
	r.t.Fatalf("there is no burst %d", n)
	return ""
}
