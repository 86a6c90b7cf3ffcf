//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/listen"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// onDemand starts the server that hooks start, and waits until it is to be reached. It returns nil
// if the process has nothing to do.
func (s *serving) onDemand(dir, idle string) *exec.Cmd {
	s.t.Helper()
	return s.reached(s.starting(dir, idle))
}

func (s *serving) starting(dir, idle string) (*exec.Cmd, io.Reader) {
	s.t.Helper()
	cmd := s.command(dir, "serve", "--on-demand", "--idle", idle)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return cmd, out
}

func (s *serving) reached(cmd *exec.Cmd, out io.Reader) *exec.Cmd {
	s.t.Helper()
	if line, _ := bufio.NewReader(out).ReadString('\n'); strings.HasPrefix(line, "socket ") {
		s.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	if err := cmd.Wait(); err != nil {
		s.t.Fatal(err)
	}
	return nil
}

// builtAs changes the build that the server on demand has recorded.
func (s *serving) builtAs(build string) {
	s.t.Helper()
	r := protocol.ReadRunning(s.data)
	r.Build = build
	text, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(filepath.Join(protocol.Dir(s.data), "server.json"), text, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func forDemand(t *testing.T) (s *serving, dir string) {
	t.Helper()
	s = &serving{t: t, data: socketData(t)}
	dir = filepath.Join(t.TempDir(), "project")
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n")})
	return s, dir
}

// TestServeOnDemand: there is one server for a data directory. A server of another build is
// replaced, and what one that a person has started does is left alone.
func TestServeOnDemand(t *testing.T) {
	t.Parallel()
	s, dir := forDemand(t)
	first := s.onDemand(dir, "1h")
	if first == nil {
		t.Fatal("no server")
	}
	socket, err := protocol.Socket(s.data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listen.LoginLinks(t.Context(), socket); err != nil {
		t.Errorf("the server does not answer: %v", err)
	}
	if out, status := s.cairn(dir, "track"); status != cli.ExitDone || out == "" {
		t.Errorf("track: %d, %s", status, out)
	}
	if second := s.onDemand(dir, "1h"); second != nil {
		t.Error("a second server")
	}
	r := protocol.ReadRunning(s.data)
	if r == nil || r.Process.PID != first.Process.Pid {
		t.Fatalf("%+v", r)
	}
	s.builtAs("another")
	newer := s.onDemand(dir, "1h")
	if newer == nil {
		t.Fatal("a server of another build was not replaced")
	}
	if err := first.Wait(); err != nil {
		t.Errorf("the replaced server: %v", err)
	}
	if r := protocol.ReadRunning(s.data); r == nil || r.Process.PID != newer.Process.Pid {
		t.Errorf("%+v", r)
	}
	if err := newer.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := newer.Wait(); err != nil {
		t.Error(err)
	}
	s.start(dir)
	defer s.end(syscall.SIGTERM)
	if s.onDemand(dir, "1h") != nil || protocol.ReadRunning(s.data) != nil {
		t.Error("a server that a person has started was replaced")
	}
}

// TestServeByHandOverOnDemand: a server on demand has no page, so the one that a person starts takes its place. A second
// one that a person starts does not, and names the way to the first.
func TestServeByHandOverOnDemand(t *testing.T) {
	t.Parallel()
	s, dir := forDemand(t)
	first := s.onDemand(dir, "1h")
	if first == nil {
		t.Fatal("no server")
	}
	s.start(dir)
	if err := first.Wait(); err != nil || protocol.ReadRunning(s.data) != nil {
		t.Errorf("the server on demand: %v, record %+v", err, protocol.ReadRunning(s.data))
	}
	out, err := s.command(dir, "serve").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "cairn serve --login prints a link") {
		t.Errorf("a second server by hand: %v, %s", err, out)
	}
	s.end(syscall.SIGTERM)
	if said := s.err.String(); !strings.Contains(said, "the server that hooks have started ends first") {
		t.Errorf("said %q", said)
	}
}

// TestServeOnDemandRace: of several that are started at once, one serves and the others end.
func TestServeOnDemandRace(t *testing.T) {
	t.Parallel()
	s, dir := forDemand(t)
	var started []*exec.Cmd
	var outs []io.Reader
	for range 4 {
		cmd, out := s.starting(dir, "1h")
		started, outs = append(started, cmd), append(outs, out)
	}
	serve := 0
	for i, cmd := range started {
		if s.reached(cmd, outs[i]) != nil {
			serve++
		}
	}
	if serve != 1 {
		t.Errorf("%d servers", serve)
	}
}

// TestServeIdle: a server without requests ends, and takes socket and record along.
func TestServeIdle(t *testing.T) {
	t.Parallel()
	s, dir := forDemand(t)
	cmd := s.onDemand(dir, "1ms")
	if cmd == nil {
		t.Fatal("no server")
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	socket, err := protocol.Socket(s.data)
	if err != nil || cli.Exists(socket) || protocol.ReadRunning(s.data) != nil {
		t.Errorf("left behind: %v, %+v", err, protocol.ReadRunning(s.data))
	}
}

// TestHooksStartAServer: a hook starts a server where setup has said so and none runs, and no other
// command does.
func TestHooksStartAServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
	d.home = socketData(t)
	data := filepath.Join(d.home, ".local", "share", "cairn")
	begins := func() {
		d.hook("codex", map[string]any{"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"})
	}
	started := func() (n int) {
		for _, args := range d.spawned {
			if strings.Join(args, " ") == "--data-dir "+data+" serve --on-demand --idle 2h0m0s" {
				n++
			}
		}
		d.spawned = nil
		return n
	}
	if begins(); started() != 0 {
		t.Error("started without a setup")
	}
	d.must("setup", "codex", "--serve", "--idle", "2h")
	if d.must("track"); started() != 0 {
		t.Error("a track started a server")
	}
	if begins(); started() != 1 {
		t.Error("no server was started")
	}
	if got := d.run("doctor"); !strings.Contains(got.stderr, "none is running, the next hook starts one") {
		t.Errorf("doctor: %s", got.stderr)
	}
	s := &serving{t: t, data: data}
	cmd := s.onDemand(d.dir, "1h")
	s.builtAs("another build")
	if begins(); started() != 1 {
		t.Error("no server was started in the place of one of another build")
	}
	s.builtAs(cli.BuildName()) // the program may be a copy of this one, with other times
	if begins(); started() != 0 {
		t.Error("started beside a server")
	}
	if got := d.run("doctor"); !strings.Contains(got.stderr, "server: runs on demand, process ") {
		t.Errorf("doctor: %s", got.stderr)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if begins(); started() != 1 {
		t.Error("a killed server was not started again")
	}
	cmd = s.onDemand(d.dir, "1h")
	if got := d.must("setup", "codex", "--serve", "--remove"); !strings.Contains(got, "serve.json") {
		t.Errorf("removed %s", got)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server: %v", err)
	}
	if begins(); started() != 0 {
		t.Error("started after the setup was taken out")
	}
}
