//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// hook is one call of an agent's hook.
func (d *desk) hook(agent string, payload map[string]any) {
	d.Helper()
	payload["cwd"] = d.dir
	text, err := json.Marshal(payload)
	if err != nil {
		d.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	c := newProgram(bytes.NewReader(text), &stdout, &stderr, homeOnly(d.home), d.dir)
	if d.agent != nil {
		c.Ancestors = func() []process.Relative { return d.agent }
	}
	c.Spawn = func(args []string) error {
		d.spawned = append(d.spawned, args)
		return nil
	}
	if status := c.Run(d.ctx, []string{"hook", agent}); status != cli.ExitDone || stdout.Len()+stderr.Len() > 0 {
		d.Fatalf("%s: status %d, %q, %q", text, status, stdout.String(), stderr.String())
	}
}

func (d *desk) prompts(turn, text string) {
	d.Helper()
	d.hook("codex", map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": "s", "turn_id": turn, "prompt": text})
}

func (d *desk) tool(event, call string) {
	d.Helper()
	d.hook("codex", map[string]any{"hook_event_name": event, "session_id": "s", "tool_name": "Bash", "tool_use_id": call, "tool_input": map[string]string{"command": "echo 2 > a"}})
}

// killSpawned runs the first process that was begun in the background, and kills it at the nth of some calls.
func (d *desk) killSpawned(program, calls string, n int) gittest.Crash {
	d.Helper()
	env := []string{"HOME=" + d.home, "USERPROFILE=" + d.home, "PATH=/nowhere"}
	return gittest.KillAt(d, append([]string{program}, d.spawned[0]...), env, calls, n)
}

// sound fails unless doctor finds nothing wrong.
func (d *desk) sound(crash gittest.Crash) {
	d.Helper()
	if doctor := d.run("doctor"); doctor.status != cli.ExitDone {
		d.Errorf("%v: doctor: %+v", crash, doctor)
	}
}

// TestPromptKilled kills the process that records a prompt at every second call that changes files.
// The tool records the prompt then, and its step holds the tool's changes alone.
func TestPromptKilled(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	stride := 2
	if testing.Short() {
		stride = 9
	}
	for n := 1; ; n += stride {
		d := newDesk(t, gittest.Tree{"a": gittest.File("1\n"), "d/b": gittest.File("2\n")})
		d.prompts("1", "go")
		if len(d.spawned) != 1 {
			t.Fatalf("started: %q", d.spawned)
		}
		crash := d.killSpawned(program, gittest.WriteCalls, n)
		d.write("d/b", "mine\n")
		d.tool("PreToolUse", "c1")
		d.write("a", "2\n")
		d.tool("PostToolUse", "c1")
		d.hook("codex", map[string]any{"hook_event_name": "Stop", "session_id": "s"})
		got := d.must("--json", "session", "show", "s")
		if strings.Count(got, `"role":"user","prompt":"go"`) != 1 || !strings.Contains(got, fmt.Sprintf(`"files":["%s/a"]`, d.dir)) {
			t.Errorf("%v: %s", crash, got)
		}
		d.sound(crash)
		if !crash.Hit {
			t.Logf("killed up to call %d", n-1)
			break
		}
	}
}

// TestPromptLooksAtNothing: a prompt's hook opens no directory of the root, and a turn without a tool
// waits for nothing.
func TestPromptLooksAtNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
	d.prompts("1", "a question")
	d.hook("codex", map[string]any{"hook_event_name": "Stop", "session_id": "s"})
	if got := d.run("log"); got.status == cli.ExitDone && got.stdout != "" {
		t.Errorf("a checkpoint was taken: %+v", got)
	}
	d.work()
	if got := d.must("--json", "session", "show", "s"); !strings.Contains(got, `"prompt":"a question"`) {
		t.Error(got)
	}
	d.prompts("2", "go")
	d.work() // what the background process has done is not done again
	d.tool("PreToolUse", "c1")
	if got := d.must("--json", "session", "show", "s"); strings.Count(got, `"role":"user","prompt":"go"`) != 1 || len(d.spawned) != 0 {
		t.Errorf("%s, started %q", got, d.spawned)
	}
	// Where nothing may run in the background, the hook records the prompt itself.
	settings := filepath.Join(d.home, ".config", "cairn", "config.toml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(settings), 0o755), os.WriteFile(settings, []byte("background = false\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	d.prompts("3", "on")
	if got := d.must("--json", "session", "show", "s"); !strings.Contains(got, `"prompt":"on"`) || len(d.spawned) != 0 {
		t.Errorf("%s, started %q", got, d.spawned)
	}
}

// TestEndKilled kills the process that ends a step at every second call that changes files. An undo in a shell, or the
// next tool, ends the step then.
func TestEndKilled(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	stride := 2
	if testing.Short() {
		stride = 9
	}
	for n := 1; ; n += stride {
		d := newDesk(t, gittest.Tree{"a": gittest.File("1\n"), "d/b": gittest.File("2\n")})
		d.must("track")
		before := gittest.Manifest(t, d.dir)
		d.prompts("1", "go")
		d.tool("PreToolUse", "c1")
		d.write("a", "2\n")
		d.spawned = nil
		d.tool("PostToolUse", "c1")
		if len(d.spawned) != 1 {
			t.Fatalf("started: %q", d.spawned)
		}
		crash := d.killSpawned(program, gittest.WriteCalls, n)
		if n%4 == 1 {
			d.tool("PreToolUse", "c2")
			d.write("d/b", "3\n")
			d.tool("PostToolUse", "c2")
		}
		d.must("undo")
		if diff := gittest.Diff(before, gittest.Manifest(t, d.dir)); diff != "" {
			t.Errorf("%v, after undo: %s", crash, diff)
		}
		d.sound(crash)
		if !crash.Hit {
			t.Logf("killed up to call %d", n-1)
			break
		}
	}
}

// TestEndInTheBackground: a tool's hook returns before the capture, and every command that needs the step ends it.
func TestEndInTheBackground(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"undo"}, {"session", "undo", "s"}, {"session", "revert", "s", "--start"}} {
		d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
		d.must("track")
		before := gittest.Manifest(t, d.dir)
		d.prompts("1", "go")
		d.tool("PreToolUse", "c1")
		d.write("a", "2\n")
		d.tool("PostToolUse", "c1")
		d.must(args...)
		if diff := gittest.Diff(before, gittest.Manifest(t, d.dir)); diff != "" {
			t.Errorf("%q: %s", args, diff)
		}
		if got := d.must("--json", "session", "show", "s"); !strings.Contains(got, `"command":"echo 2 > a"`) {
			t.Errorf("the step does not tell of its tool: %s", got)
		}
	}
}

// TestEndTypedBesideTheBackground: the end of a step that is typed while a process is to end it is no late beginning.
func TestEndTypedBesideTheBackground(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
	d.prompts("1", "go")
	d.tool("PreToolUse", "c1")
	d.write("a", "2\n")
	d.tool("PostToolUse", "c1")
	if got := d.run("session", "step", "end", "s", "--step", "c1"); got.status != cli.ExitDone || strings.Contains(got.stderr, "warning") {
		t.Errorf("%+v", got)
	}
}

// TestEndAfterTheAgentsDeath: a tool that has returned is captured by the process that was started for that, also if the
// agent is killed at once. A process that comes later captures nothing: what it would find may be the user's.
func TestEndAfterTheAgentsDeath(t *testing.T) {
	t.Parallel()
	for _, atOnce := range []bool{true, false} {
		d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
		d.must("track")
		before := gittest.Manifest(t, d.dir)
		cat := exec.CommandContext(t.Context(), "cat")
		if _, err := cat.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := cat.Start(); err != nil {
			t.Fatal(err)
		}
		id, ok := process.Of(cat.Process.Pid)
		if !ok {
			t.Skip("NOT TESTED: processes cannot be seen on this system")
		}
		d.agent = []process.Relative{{ID: id, Name: "an-agent"}}
		d.prompts("1", "go")
		d.tool("PreToolUse", "c1")
		d.write("a", "2\n")
		d.tool("PostToolUse", "c1")
		if err := cat.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cat.Wait() // it was killed
		if atOnce {
			d.work()
		}
		undo := d.run("undo", "--session", "s")
		if diff := gittest.Diff(before, gittest.Manifest(t, d.dir)); (diff == "") != atOnce {
			t.Errorf("at once %v: %+v, %s", atOnce, undo, diff)
		}
	}
}
