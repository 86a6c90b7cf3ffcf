//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/relay"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
)

// hooked runs a hook in a process of its own, and reports whether a server did it all: the rest of the program is
// not initialized then.
func (s *serving) hooked(dir string, payload map[string]any, env ...string) (out string, relayed bool) {
	s.t.Helper()
	payload["cwd"] = dir
	text, err := json.Marshal(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := s.command(dir, "hook", "codex")
	var stdout, stderr bytes.Buffer
	cmd.Env = append(cmd.Env, append(env, "GODEBUG=inittrace=1")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%v: %s", err, &stderr)
	}
	return stdout.String(), !strings.Contains(stderr.String(), "init path/filepath ") && !strings.Contains(stderr.String(), "init github.com/seed-fb9cbc17/cairn/session ")
}

// TestHookBeginsEarly: a call goes to the server before the packages of the program are initialized, with all that
// the server needs to know.
func TestHookBeginsEarly(t *testing.T) {
	t.Parallel()
	s, dir := forDemand(t)
	if err := os.Mkdir(protocol.Dir(s.data), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(protocol.Dir(s.data), "sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	calls := make(chan *relay.Call, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		call, _ := relay.Decode(data)
		calls <- call
		w.Header().Set("Content-Length", "7")
		io.WriteString(w, "{\"a\":1}")
	})}
	go server.Serve(l)
	defer server.Close()
	out, relayed := s.hooked(dir, map[string]any{"hook_event_name": "Stop", "session_id": "s"}, "EXTRA=1")
	if out != `{"a":1}` || !relayed {
		t.Errorf("%q, relayed %v", out, relayed)
	}
	call := <-calls
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if call == nil || call.Agent != "codex" || call.Dir != real && call.Dir != dir || call.Parent != os.Getpid() || !slices.Contains(call.Env, "EXTRA=1") || !strings.Contains(string(call.Payload), `"session_id":"s"`) {
		t.Errorf("%+v", call)
	}
}

// TestHookByServer: the events of a turn are carried out by the server. A typed command is not, and neither is the
// call of a process with other settings. The outcome is the same.
func TestHookByServer(t *testing.T) {
	t.Parallel()
	s, dir := forDemand(t)
	s.start(dir)
	ended := false
	defer func() {
		if !ended {
			s.cmd.Process.Kill()
		}
	}()
	before := gittest.Manifest(t, dir)
	event := func(name string, more map[string]any, env ...string) (string, bool) {
		payload := map[string]any{"hook_event_name": name, "session_id": "s", "turn_id": "1"}
		for key, value := range more {
			payload[key] = value
		}
		return s.hooked(dir, payload, env...)
	}
	tool := map[string]any{"tool_name": "Bash", "tool_use_id": "c", "tool_input": map[string]any{"command": "echo"}}
	for _, c := range []struct {
		name    string
		more    map[string]any
		env     []string
		relayed bool
	}{
		{"SessionStart", map[string]any{"source": "startup"}, nil, true},
		{"UserPromptSubmit", map[string]any{"prompt": "go"}, nil, true},
		{"PreToolUse", tool, nil, true},
		{"PostToolUse", tool, []string{"CAIRN_LOCK_TIMEOUT=31s"}, false},
		{"Stop", nil, []string{"OTHER=1", "XDG_SESSION_ID=7"}, true},
	} {
		if c.name == "PostToolUse" {
			gittest.Create(t, dir, gittest.Tree{"new": gittest.File("x\n")})
		}
		if out, relayed := event(c.name, c.more, c.env...); out != "" || relayed != c.relayed {
			t.Errorf("%s: %q, relayed %v", c.name, out, relayed)
		}
	}
	out, relayed := event("UserPromptSubmit", map[string]any{"prompt": "cairn undo", "turn_id": "2"})
	if relayed || !strings.Contains(out, "took back 1 turn: 1 deleted") {
		t.Errorf("cairn undo: %q, relayed %v", out, relayed)
	}
	if diff := gittest.Diff(before, gittest.Manifest(t, dir)); diff != "" {
		t.Error(diff)
	}
	if log, err := os.ReadFile(filepath.Join(s.data, "hooks", "hooks.log")); err == nil {
		t.Errorf("failures: %s", log)
	}
	ended = true
	s.end(syscall.SIGTERM)
	if _, relayed := event("Stop", nil); relayed {
		t.Error("relayed without a server")
	}
}

// TestHookByServerKnowsTheAgent: the owner of a step that a server records is the agent, which is above the hook and
// not above the server.
func TestHookByServerKnowsTheAgent(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("NOT TESTED: there is no shell")
	}
	s, dir := forDemand(t)
	s.start(dir)
	defer s.end(syscall.SIGTERM)
	files := t.TempDir()
	program, err := os.ReadFile(sh)
	if err == nil {
		err = os.WriteFile(filepath.Join(files, "an-agent"), program, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, payload := range map[string]map[string]any{
		"prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "go"},
		"before": {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "c"},
	} {
		payload["session_id"], payload["cwd"] = "s", dir
		text, err := json.Marshal(payload)
		if err == nil {
			err = os.WriteFile(filepath.Join(files, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := s.command(dir)
	cmd.Path, cmd.Args = filepath.Join(files, "an-agent"), []string{"an-agent", "-c", "cairn hook codex < $0/prompt; cairn hook codex < $0/before; exit 0", files}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	out, status := s.cairn(dir, "doctor", "--json")
	if !strings.Contains(out, "step c of session s was left open: its agent (process ") {
		t.Errorf("doctor: %d, %s", status, out)
	}
}

// TestEndByServer: the hook of a tool that has returned leaves the capture to the server, and a process that needs the
// step does the work where the server was killed.
func TestEndByServer(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"stopped": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := forDemand(t)
			s.start(dir)
			before := gittest.Manifest(t, dir)
			event := func(name string, more map[string]any) {
				t.Helper()
				payload := map[string]any{"hook_event_name": name, "session_id": "s", "turn_id": "1"}
				maps.Copy(payload, more)
				if out, relayed := s.hooked(dir, payload); out != "" || !relayed {
					t.Errorf("%s: %q, relayed %v", name, out, relayed)
				}
			}
			tool := map[string]any{"tool_name": "Bash", "tool_use_id": "c", "tool_input": map[string]any{"command": "echo"}}
			event("UserPromptSubmit", map[string]any{"prompt": "go"})
			event("PreToolUse", tool)
			gittest.Create(t, dir, gittest.Tree{"new": gittest.File("x\n")})
			event("PostToolUse", tool)
			s.end(signal)
			if !s.ticketToEnd() {
				t.Error("the hook has left nothing to the server")
			}
			if out, status := s.cairn(dir, "undo"); status != cli.ExitDone || !strings.Contains(out, "deleted new") {
				t.Errorf("undo: %d, %s", status, out)
			}
			if diff := gittest.Diff(before, gittest.Manifest(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// ticketToEnd reports whether the end of a step was left to the background.
func (s *serving) ticketToEnd() bool {
	s.t.Helper()
	book := ticket.In(s.data)
	ids, err := book.List()
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.ContainsFunc(ids, func(id string) bool {
		r, err := book.Request(id)
		return err == nil && r.End != nil
	})
}
