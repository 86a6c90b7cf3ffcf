//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// station is a project, a home, and the program.
type station struct {
	*testing.T
	program, dir, home string
}

func newStation(t *testing.T) *station {
	t.Helper()
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	s := &station{t, program, filepath.Join(t.TempDir(), "project"), t.TempDir()}
	gittest.Create(t, s.dir, gittest.Tree{"a": gittest.File("1\n")})
	return s
}

func (s *station) env() []string {
	return []string{"HOME=" + s.home, "PATH=" + filepath.Dir(s.program) + string(os.PathListSeparator) + os.Getenv("PATH")}
}

// cairn runs the program and returns what it says.
func (s *station) cairn(args ...string) string {
	s.Helper()
	cmd := exec.Command(s.program, args...)
	cmd.Dir, cmd.Env = s.dir, s.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (s *station) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}

func (s *station) read(name string) string {
	s.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if os.IsNotExist(err) {
		return "(absent)"
	}
	if err != nil {
		s.Fatal(err)
	}
	return string(data)
}

// settle waits for what hooks have left to the background, so that the user's writes come later.
func (s *station) settle() {
	s.Helper()
	for _, data := range []string{".local/share/cairn", "Library/Application Support/cairn"} {
		list, err := filepath.Glob(filepath.Join(s.home, data, "tickets", "*.json"))
		if err != nil {
			s.Fatal(err)
		}
		for _, path := range list {
			cmd := exec.Command(s.program, "wait", strings.TrimSuffix(filepath.Base(path), ".json"))
			cmd.Dir, cmd.Env = s.dir, s.env()
			out, err := cmd.CombinedOutput() // the work of a killed hook may fail
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				s.Fatalf("%v\n%s", err, out)
			}
		}
	}
}

// untilReady starts a program in a group of its own and waits until it prints a line.
// The function that it returns kills the whole group, and waits.
func (s *station) untilReady(program string, args ...string) (kill func()) {
	s.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = s.dir, s.env(), &syscall.SysProcAttr{Setpgid: true}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	kill = func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "ready" {
			return kill
		}
	}
	kill()
	s.Fatalf("it never said that it was ready\n%s", stderr.String())
	return nil
}

// hookLine is a shell command that tells an event to a hook of Codex.
func (s *station) hookLine(event, session, more string) string {
	cwd, _ := json.Marshal(s.dir)
	return `printf '%s' '{"hook_event_name":"` + event + `","session_id":"` + session + `","turn_id":"t1","cwd":` + string(cwd) + more + `}' | cairn hook codex` + "\n"
}

// agent starts a program that tells hooks of a turn and is at work on a tool.
func (s *station) agent(session string) (kill func()) {
	s.Helper()
	return s.agentAt(session, s.toolLine("PreToolUse", session)+"echo agent > theirs\n")
}

// toolLine tells of a call of a tool.
func (s *station) toolLine(event, session string) string {
	return s.hookLine(event, session, `,"tool_name":"Bash","tool_use_id":"c1","tool_input":{"command":"x"}`)
}

// agentAt starts a program that tells hooks of a prompt, and then carries out lines of shell.
func (s *station) agentAt(session, lines string) (kill func()) {
	s.Helper()
	name := filepath.Join(s.T.TempDir(), "agent")
	sh, err := exec.LookPath("sh")
	if err == nil {
		err = os.Symlink(sh, name)
	}
	if err != nil {
		s.Skip(err)
	}
	return s.untilReady(name, "-c", s.hookLine("SessionStart", session, `,"source":"startup"`)+
		s.hookLine("UserPromptSubmit", session, `,"prompt":"go"`)+
		lines+"echo ready\nsleep 1000\ntrue\n")
}

// TestV34_KilledInEveryPhase: an agent is killed at a moment of its turn, and the user writes.
// The next session is taken back without a conflict, and so is the turn, as far as it was
// captured. The user's files stay.
func TestV34_KilledInEveryPhase(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	const wrote = "echo agent > theirs\n"
	for name, c := range map[string]struct {
		lines func(s *station) string
		taken bool // the tool's file is known to be the turn's
	}{
		"before a tool": {func(*station) string { return "" }, false},
		"in a tool":     {func(s *station) string { return s.toolLine("PreToolUse", "dead") + wrote }, false},
		"between tools": {func(s *station) string {
			return s.toolLine("PreToolUse", "dead") + wrote + s.toolLine("PostToolUse", "dead")
		}, true},
		"after the turn": {func(s *station) string {
			return s.toolLine("PreToolUse", "dead") + wrote + s.toolLine("PostToolUse", "dead") + s.hookLine("Stop", "dead", "")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStation(t)
			kill := s.agentAt("dead", c.lines(s))
			s.settle()
			kill()
			s.write("mine", "the user's\n")
			s.cairn("session", "step", "begin", "later", "--message", "1")
			s.write("a", "2\n")
			s.cairn("session", "step", "end", "later")
			if out := s.cairn("session", "undo", "later"); strings.Contains(out, "conflict") || s.read("a") != "1\n" {
				t.Error(out)
			}
			if c.taken {
				s.cairn("session", "undo", "dead")
			}
			if s.read("mine") != "the user's\n" || c.taken != (s.read("theirs") == "(absent)") && name != "before a tool" {
				t.Errorf("mine %q, theirs %q", s.read("mine"), s.read("theirs"))
			}
			s.cairn("doctor", "--quick", "--fix")
			s.cairn("doctor", "--quick")
		})
	}
}

// TestV34_KilledAgent: an agent is killed in the middle of a tool. What the user writes
// afterwards stays the user's, and a later session can be taken back.
func TestV34_KilledAgent(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for _, resumed := range []bool{false, true} {
		s := newStation(t)
		s.agent("dead")()
		s.write("mine", "the user's\n")
		if resumed {
			s.agent("dead")()
		}
		s.cairn("session", "step", "begin", "later", "--message", "1")
		s.write("a", "2\n")
		s.cairn("session", "step", "end", "later")
		if out := s.cairn("session", "undo", "later"); strings.Contains(out, "conflict") || s.read("a") != "1\n" {
			t.Errorf("resumed %v: %s", resumed, out)
		}
		s.cairn("session", "undo", "dead")
		if s.read("mine") != "the user's\n" {
			t.Errorf("resumed %v: the user's file is gone", resumed)
		}
	}
}

// TestV34_LivingAgent: the same agent alive is in the way, as ever.
func TestV34_LivingAgent(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	kill := s.agent("living")
	defer kill()
	s.cairn("session", "step", "begin", "later", "--message", "1")
	s.write("a", "2\n")
	s.cairn("session", "step", "end", "later")
	for session, want := range map[string]string{"later": "conflict a: also changed during a step of session living\n", "living": "session is busy"} {
		cmd := exec.Command(s.program, "session", "undo", session)
		cmd.Dir, cmd.Env = s.dir, s.env()
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", session, err, out)
		}
	}
}

// TestV34_KilledRun: cairn run and its command are killed; doctor names the step and
// mends it, and what was written later stays.
func TestV34_KilledRun(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	s.untilReady(s.program, "run", "sh", "-c", "echo 2 > a; echo ready; exec sleep 1000")()
	s.write("mine", "the user's\n")
	out := s.cairn("doctor", "--quick", "--fix")
	if !strings.Contains(out, "session: step burst-") || !strings.Contains(out, "mended: write its end down") {
		t.Error(out)
	}
	if out := s.cairn("doctor", "--quick"); !strings.Contains(out, "nothing is wrong") {
		t.Error(out)
	}
	id := strings.Fields(s.cairn("session", "list"))[0]
	s.cairn("session", "revert", id, "--start")
	if s.read("mine") != "the user's\n" {
		t.Error("the user's file is gone")
	}
}
