//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

var cairnProgram string // built by TestMain

// agentBound ends an agent that hangs. Nothing depends on how fast the machine is.
const agentBound = 3 * time.Minute

// sandbox is a project, a home, a network and a model of a test's own.
type sandbox struct {
	t       *testing.T
	project string
	home    string
	net     *network
	model   string
	asks    requests // that the model got
	env     []string
}

// begin is the project as the agents find it. The names are those with which their own
// undo has lost work.
var begin = gittest.Tree{
	".gitignore":   gittest.File("*.log\n"),
	"edit.txt":     gittest.File("old\n"),
	"gone.txt":     gittest.File("bye\n"),
	"move.txt":     gittest.File("content that moves\n"),
	"é1.txt":       gittest.File("one\n"),
	"é2.txt":       gittest.File("two\n"),
	"crlf.txt":     gittest.File("a\r\nb\r\n"),
	"run.sh":       gittest.Exec("#!/bin/sh\n"),
	"private":      gittest.FileMode("secret\n", 0o600),
	"dir/deep.txt": gittest.File("deep\n"),
	"empty":        gittest.Dir(),
	"link":         gittest.Link("edit.txt"),
	"bytes":        gittest.File("\x00\xff\n"),
	"kept.log":     gittest.File("ignored\n"),
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	dir := lastingTempDir(t)
	s := &sandbox{t: t, project: filepath.Join(dir, "project"), home: filepath.Join(dir, "home"), net: newNetwork(t)}
	gittest.Create(t, s.home, nil)
	gittest.Create(t, s.project, begin)
	s.model = startModel(t, s.net, &s.asks)
	s.env = []string{
		"HOME=" + s.home, "PATH=" + filepath.Dir(cairnProgram) + ":" + nodeDir() + ":/usr/local/bin:/usr/bin:/bin",
		"TERM=dumb", "LANG=C.UTF-8", "SHELL=/bin/bash", "NO_COLOR=1", "TMPDIR=" + dir,
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "-qm", "begin"}} {
		s.must(append([]string{"git"}, args...)...)
	}
	return s
}

// lastingTempDir is a directory for temporary files, which goes at the end of the test. An agent that is told to end,
// and the hooks that it calls then, may still write there for a moment.
func lastingTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := os.RemoveAll(dir)
		for end := time.Now().Add(screenBound); err != nil && time.Now().Before(end); time.Sleep(lookPause) {
			err = os.RemoveAll(dir)
		}
		if err != nil {
			t.Error(err)
		}
	})
	return dir
}

// file writes a file below the home directory.
func (s *sandbox) file(path, text string) string {
	s.t.Helper()
	path = filepath.Join(s.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *sandbox) jsonFile(path string, v any) string {
	s.t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		s.t.Fatal(err)
	}
	return s.file(path, string(data))
}

func (s *sandbox) command(args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = s.project, s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second
	if !strings.Contains(args[0], "/") { // looked up where the command will look
		for dir := range strings.SplitSeq(strings.TrimPrefix(s.env[1], "PATH="), ":") {
			if info, err := os.Stat(filepath.Join(dir, args[0])); err == nil && !info.IsDir() {
				cmd.Path, cmd.Err = filepath.Join(dir, args[0]), nil
				break
			}
		}
	}
	return cmd
}

// kill ends a command and all that it has started.
func kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

type output struct {
	status         int
	stdout, stderr string
}

// run runs a command to its end in the sandbox.
func (s *sandbox) run(stdin string, args ...string) output {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := s.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := s.net.start(cmd); err != nil {
		s.t.Fatalf("%s: %v", args[0], err)
	}
	hung := false
	timer := time.AfterFunc(agentBound, func() { hung = true; kill(cmd) })
	cmd.Wait()
	timer.Stop()
	if hung {
		s.t.Fatalf("%s hung\nstdout: %s\nstderr: %s", args[0], last(stdout.Bytes(), 2000), last(stderr.Bytes(), 2000))
	}
	return output{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func (s *sandbox) must(args ...string) output {
	s.t.Helper()
	out := s.run("", args...)
	if out.status != 0 {
		s.t.Fatalf("%q: status %d\nstdout: %s\nstderr: %s", args, out.status, last([]byte(out.stdout), 3000), last([]byte(out.stderr), 3000))
	}
	return out
}

func (s *sandbox) cairn(args ...string) output {
	s.t.Helper()
	return s.must(append([]string{cairnProgram}, args...)...)
}

// state is everything in the project but what lies in directories called .git, which
// agents and git itself write to, and directories that hold nothing else.
func (s *sandbox) state() gittest.Listing {
	s.t.Helper()
	all, err := s.look()
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// look is state while an agent may still be at work: then it may fail.
func (s *sandbox) look() (gittest.Listing, error) {
	all, err := gittest.TryManifest(s.project)
	maps.DeleteFunc(all, func(path string, _ gittest.Entry) bool { return slices.Contains(strings.Split(path, "/"), ".git") })
	if entries, err := os.ReadDir(filepath.Join(s.project, "nested")); err == nil && len(entries) == 1 && entries[0].Name() == ".git" {
		delete(all, "nested") // a repository that the agent made: its .git is never deleted
	}
	return all, err
}

func (s *sandbox) is(what string, want gittest.Listing) {
	s.t.Helper()
	if diff := gittest.Diff(want, s.state()); diff != "" {
		s.t.Fatalf("%s (- missing, + unexpected, ! changed):\n%s\nhooks: %s", what, diff, s.hooksLog())
	}
}

// becomes waits for a state that an agent brings about when it likes.
func (s *sandbox) becomes(what string, want gittest.Listing) {
	s.t.Helper()
	deadline := time.Now().Add(agentBound)
	for time.Now().Before(deadline) {
		if now, err := s.look(); err == nil && gittest.Diff(want, now) == "" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.is(what, want)
}

// hooksLog is what failed in hooks, which never tell the agent, and what plugins have told in the agent's own log.
func (s *sandbox) hooksLog() string {
	data, err := os.ReadFile(filepath.Join(s.dataDir(), "hooks/hooks.log"))
	if err != nil {
		data = []byte("nothing logged")
	}
	return last(data, 3000) + "\n" + s.toldInLogs()
}

// dataDir is where cairn has its data in the sandbox.
func (s *sandbox) dataDir() string {
	for _, v := range slices.Backward(s.env) {
		if dir, ok := strings.CutPrefix(v, "CAIRN_DATA_DIR="); ok {
			return dir
		}
	}
	return filepath.Join(s.home, ".local/share/cairn")
}

// toldInLogs lists what OpenCode and Kilo CLI log of cairn: that its plugin is loaded, and each of its messages.
func (s *sandbox) toldInLogs() string {
	var told strings.Builder
	logs, _ := filepath.Glob(filepath.Join(s.home, ".local/share/*/log/*.log"))
	for _, path := range logs {
		data, _ := os.ReadFile(path)
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, "cairn") {
				told.WriteString("\n" + last([]byte(line), 1000))
			}
		}
	}
	return last([]byte(told.String()), 5000)
}

// The two turns that every agent plays. Between them they write, edit, delete, move
// and create through edit tools and through the shell.
func (s *sandbox) firstTurn(abs bool) script {
	at := s.at(abs)
	return script{
		write(at("new.txt"), "hello\n"),
		read(at("edit.txt")),
		[]op{edit(at("edit.txt"), "old", "NEW"), shell("rm gone.txt")},
		shell("mv move.txt moved.txt && mkdir -p made/deep && echo x > made/deep/f && printf 'ONE\\n' > é1.txt && printf 'TWO\\n' > é2.txt && " +
			"git init -q nested && echo in > nested/in.txt && rmdir empty && chmod +x edit.txt && ln -sfn dir link && printf 'a\\r\\nB\\r\\n' > crlf.txt && rm -r dir && echo file > dir"),
		"the first turn is done",
	}
}

func (s *sandbox) secondTurn(abs bool) script {
	at := s.at(abs)
	return script{
		write(at("naïve ☃.txt"), "snow\n"),
		shell("echo more >> nested/in.txt && echo NEWER > new.txt && rm dir && mkdir dir && echo again > dir/deep.txt && rm é1.txt && mkdir empty"),
		"the second turn is done",
	}
}

func (s *sandbox) at(abs bool) func(string) string {
	return func(path string) string {
		if abs {
			return filepath.Join(s.project, path)
		}
		return path
	}
}
