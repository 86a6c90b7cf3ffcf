//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// event is a payload of Claude Code, in a file.
func (s *station) event(name string, more map[string]any) string {
	s.Helper()
	payload := map[string]any{"hook_event_name": name, "session_id": "s", "cwd": s.dir}
	for key, value := range more {
		payload[key] = value
	}
	data, err := json.Marshal(payload)
	path := filepath.Join(s.T.TempDir(), name)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		s.Fatal(err)
	}
	return path
}

// hook tells an event to the hook and returns what that says.
func (s *station) hook(name string, more map[string]any) string {
	s.Helper()
	cmd := exec.Command(s.program, "hook", "claude-code")
	cmd.Dir, cmd.Env = s.dir, s.env()
	in, err := os.Open(s.event(name, more))
	if err != nil {
		s.Fatal(err)
	}
	defer in.Close()
	cmd.Stdin = in
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// killedHook tells an event to a hook that is killed at its n-th change of a directory.
func (s *station) killedHook(n int, name string, more map[string]any) gittest.Crash {
	s.Helper()
	const calls = "rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat"
	line := `cd "$1" && exec "$2" hook claude-code <"$3"`
	return gittest.KillAt(s.T, []string{"/bin/sh", "-c", line, "sh", s.dir, s.program, s.event(name, more)}, s.env(), calls, n)
}

// tool is a call that writes a file.
func tool(id string) map[string]any {
	return map[string]any{"tool_name": "Bash", "tool_use_id": id, "tool_input": map[string]any{"command": "x"}}
}

// turn has the agent write a file. The hook of the event at is killed at its n-th change of
// a directory; the agent goes on as if nothing had happened.
func (s *station) turn(id, file, at string, n int) (crash gittest.Crash) {
	s.Helper()
	tell := func(name string, more map[string]any) {
		if name == at {
			crash = s.killedHook(n, name, more)
		} else {
			s.hook(name, more)
		}
	}
	tell("UserPromptSubmit", map[string]any{"prompt": "write " + file, "prompt_id": id})
	tell("PreToolUse", tool(id))
	s.write(file, "the agent's\n")
	tell("PostToolBatch", map[string]any{"tool_calls": []any{tool(id)}})
	s.settle()
	tell("Stop", map[string]any{"background_tasks": []any{}})
	return crash
}

// TestV34_KilledHook: a hook is killed in the middle of a capture, and the agent goes on. Its
// later turn is taken back as a whole, and so is the one of the killed hook, where the step
// had begun. What the user wrote before and between stays, and the store is sound.
func TestV34_KilledHook(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"UserPromptSubmit", "PreToolUse", "PostToolBatch", "Stop"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n += gittest.Step() {
				s := newStation(t)
				s.hook("SessionStart", map[string]any{"source": "startup"})
				s.write("mine", "the user's\n")
				crash := s.turn("one", "first", at, n)
				if !crash.Hit {
					if n == 1 {
						t.Error("nothing was killed")
					}
					return
				}
				s.write("between", "the user's\n")
				s.turn("two", "second", "", 0)
				s.takeBack(crash, at)
			}
		})
	}
}

// takeBack types undo twice.
func (s *station) takeBack(crash gittest.Crash, at string) {
	s.Helper()
	out := s.hook("UserPromptSubmit", map[string]any{"prompt": "cairn undo"})
	if s.read("second") != "(absent)" || !strings.Contains(out, "took back 1 turn") {
		s.Errorf("%v: second %q: %s", crash, s.read("second"), out)
	}
	out = s.hook("UserPromptSubmit", map[string]any{"prompt": "cairn undo"})
	if at != "PreToolUse" && s.read("first") != "(absent)" {
		s.Errorf("%v: first %q: %s", crash, s.read("first"), out)
	}
	if strings.Contains(out, "conflict") || s.read("mine") != "the user's\n" || s.read("between") != "the user's\n" || s.read("a") != "1\n" {
		s.Errorf("%v: mine %q, between %q, a %q: %s", crash, s.read("mine"), s.read("between"), s.read("a"), out)
	}
	s.cairn("doctor", "--fix")
	if out := s.cairn("doctor"); !strings.Contains(out, "nothing is wrong") {
		s.Errorf("%v: %s", crash, out)
	}
}
