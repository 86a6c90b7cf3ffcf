//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// leanLimit is the size of a lean cairn for one system, in bytes.
const leanLimit = 15_000_000

// builtLean builds a lean cairn and its cairn-full as a release has them.
func builtLean(t *testing.T) (lean, full string) {
	t.Helper()
	if testing.Short() {
		t.Skip("the test builds the program")
	}
	dir := t.TempDir()
	lean, full = filepath.Join(dir, "bin", "cairn"), filepath.Join(dir, "lib", "cairn", "cairn-full")
	for program, tags := range map[string]string{lean: "lean", full: ""} {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", tags, "-ldflags", "-s -w", "-o", program, ".")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return lean, full
}

// fails runs a program that must fail, and returns its exit status and what it says.
func fails(t *testing.T, env []string, program string, args ...string) (status int, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(env, "HOME="+t.TempDir())
	_, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("%q: %v", args, err)
	}
	return exit.ExitCode(), string(exit.Stderr)
}

// TestLean: the two programs of a release.
func TestLean(t *testing.T) {
	t.Parallel()
	lean, full := builtLean(t)
	t.Run("one program", func(t *testing.T) { leanIsOneProgram(t, lean, full) })
	t.Run("set up", func(t *testing.T) { leanIsSetUp(t, lean) })
	t.Run("a part alone", func(t *testing.T) { leanAlone(t, lean, full) })
}

// leanIsOneProgram: a lean cairn carries out everyday commands itself, and becomes its cairn-full for all others. To
// their callers both are one program.
func leanIsOneProgram(t *testing.T, lean, full string) {
	s, dir := forDemand(t)
	s.program = lean
	ran := func(program string, args ...string) string {
		s.t.Helper()
		cmd := s.command(dir, args...)
		cmd.Path = program
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
		return string(out)
	}
	if info, err := os.Stat(lean); err != nil || info.Size() > leanLimit {
		t.Errorf("the lean cairn has %d bytes, more than %d: %v", info.Size(), leanLimit, err)
	}
	link := filepath.Join(t.TempDir(), "cairn")
	if err := os.Symlink(lean, link); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"version"}, {"help"}, {"help", "track"}, {"du", "--json"}, {"completion", "bash"}} {
		want := ran(full, args...)
		if got := ran(lean, args...); got != want {
			t.Errorf("%q: lean %q, full %q", args, got, want)
		}
		if got := ran(link, args...); got != want {
			t.Errorf("%q: by a link %q, full %q", args, got, want)
		}
	}
	if status, text := fails(t, nil, lean, "undp"); status != 2 || !strings.Contains(text, "did you mean undo") {
		t.Errorf("status %d: %s", status, text)
	}
	s.start(dir)
	out, relayed := s.hooked(dir, map[string]any{"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"})
	if out != "" || !relayed {
		t.Errorf("the server of cairn-full does not take a hook of the lean cairn: %q", out)
	}
	if status := s.end(syscall.SIGTERM); status != 0 {
		t.Errorf("the server ends with %d", status)
	}
}

// leanIsSetUp: setup is carried out by cairn-full, and agents call the lean cairn.
func leanIsSetUp(t *testing.T, lean string) {
	home := t.TempDir()
	for agent, file := range map[string]string{"claude-code": ".claude/settings.json", "pi": ".pi/agent/extensions/cairn.ts", "opencode": ".config/opencode/plugins/cairn.ts"} {
		cmd := exec.CommandContext(t.Context(), lean, "setup", agent)
		cmd.Dir, cmd.Env = home, []string{"HOME=" + home}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", agent, err, out)
		}
		text, err := os.ReadFile(filepath.Join(home, file))
		if err != nil || !strings.Contains(string(text), lean) || strings.Contains(string(text), "cairn-full") {
			t.Errorf("%s does not call %s: %v\n%s", agent, lean, err, text)
		}
	}
}

// leanAlone: everyday commands need no cairn-full. Another command names the missing file. A cairn-full warns
// of a lean cairn of another build.
func leanAlone(t *testing.T, lean, full string) {
	root, data := t.TempDir(), t.TempDir()
	gittest.Create(t, root, gittest.Tree{"a": gittest.File("a")})
	out, err := exec.Command(full, "--root", root, "--data-dir", data, "status").CombinedOutput()
	if strings.Contains(string(out), "build") {
		t.Errorf("a full cairn alone warns: %s %v", out, err)
	}
	cmd := exec.Command(full, "--root", root, "--data-dir", data, "track")
	cmd.Env = []string{"HOME=" + data, "CAIRN_FRONT=cairn v0.0.1 (go0, x/y)\n" + lean}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "warning: cairn is cairn v0.0.1") {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(lean, "--root", root, "--data-dir", data, "track")
	cmd.Env = []string{"HOME=" + data}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("track: %v: %s", err, out)
	}
	for _, args := range [][]string{{"serve"}, {"mcp"}, {"push", "x"}, {"help"}, nil} {
		if status, text := fails(t, nil, lean, args...); status != 1 || !strings.Contains(text, "there is no cairn-full beside") {
			t.Errorf("%q: status %d: %s", args, status, text)
		}
	}
	if _, text := fails(t, nil, lean, "--json", "serve"); !strings.HasPrefix(text, `{"error":`) {
		t.Errorf("not JSON: %s", text)
	}
}

// TestLeanImports: a lean cairn is free of the libraries that take most of the program's start.
func TestLeanImports(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-tags", "lean", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	for _, heavy := range []string{
		"github.com/danielgtaylor/huma/v2", "github.com/modelcontextprotocol/go-sdk/mcp", "charm.land/bubbletea/v2",
		"golang.org/x/net/webdav", "html/template", "encoding/gob",
	} {
		if slices.Contains(packages, heavy) {
			t.Errorf("a lean cairn has %s", heavy)
		}
	}
	if len(packages) < 100 {
		t.Errorf("%d packages", len(packages))
	}
}
