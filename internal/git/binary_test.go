package git

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func lookBinary(t *testing.T) *Binary {
	t.Helper()
	b, err := LookBinary()
	if err != nil {
		t.Skip("git is not installed")
	}
	return b
}

// fakeGit is a shell script in the place of git.
func fakeGit(t *testing.T, script string) *Binary {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	path := filepath.Join(t.TempDir(), "git")
	gittest.Create(t, filepath.Dir(path), gittest.Tree{"git": gittest.Exec("#!/bin/sh\n" + script + "\n")})
	return NewBinary(path)
}

func TestCommandEnvironment(t *testing.T) {
	for _, key := range []string{"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_CONFIG_COUNT", "HOME", "XDG_CONFIG_HOME", "LANG", "SSH_ASKPASS", "API_KEY"} {
		t.Setenv(key, "/inherited")
	}
	b := fakeGit(t, `env; echo "args: $*"; read line; echo "status $?"; pwd`)
	dir := tempDir(t)
	cmd := b.Command(context.Background(), dir, "gc", "--quiet")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if strings.Contains(string(out), "inherited") {
		t.Errorf("something is inherited:\n%s", out)
	}
	for _, want := range []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0", "status 1", dir,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	if !strings.Contains(string(out), "core.hooksPath="+os.DevNull) || !strings.Contains(string(out), " gc --quiet\n") {
		t.Errorf("arguments:\n%s", out)
	}
	if again := b.Command(context.Background(), dir, "fsck"); slices.Contains(again.Args, "gc") {
		t.Errorf("arguments of two commands mix: %q", again.Args)
	}
}

// Hooks and configuration of the repository do not run.
func TestCommandRunsNoHooks(t *testing.T) {
	t.Parallel()
	b := lookBinary(t)
	o := gittest.NewOracle(t)
	dir := committed(t, o, tempDir(t))
	mark := filepath.Join(t.TempDir(), "ran")
	script := gittest.Exec("#!/bin/sh\necho ran >>'" + mark + "'\n")
	gittest.Create(t, filepath.Join(dir, ".git", "hooks"), gittest.Tree{"post-checkout": script, "pre-commit": script, "reference-transaction": script, "monitor": script})
	o.In(dir, "config", "core.fsmonitor", filepath.Join(dir, ".git", "hooks", "monitor"))
	o.In(dir, "config", "commit.gpgSign", "true")
	write(t, filepath.Join(dir, "f"), "changed\n")
	run := func(args ...string) {
		t.Helper()
		cmd := b.Command(context.Background(), dir, args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	run("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qam", "two")
	run("status")
	run("checkout", "-q", "-b", "other")
	if data, err := os.ReadFile(mark); err == nil {
		t.Errorf("hooks ran: %s", data)
	}
	o.In(dir, "checkout", "-q", "main") // without the guard they do, so the test can fail
	if _, err := os.Stat(mark); err != nil {
		t.Error("the hooks do not work at all")
	}
}

// A cancelled command is killed with its children: the output that they keep open
// ends.
func TestCommandCancel(t *testing.T) {
	t.Parallel()
	b := fakeGit(t, `sleep 1000 & echo started; wait`)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := b.Command(ctx, "")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := io.ReadFull(r, make([]byte, len("started\n"))); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := cmd.Wait(); err == nil {
		t.Error("a killed command has succeeded")
	}
	if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the child goes on: %d, %v", n, err)
	}
}

func TestLookBinaryMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if b, err := LookBinary(); !errors.Is(err, ErrNoGit) {
		t.Errorf("found %v, %v in an empty directory", b, err)
	}
}

// A command for remotes gets the agent and the home directory that it is given,
// and nothing else more.
// TestThere: a command works in the repository in its directory by that one's configuration and hooks, and in none
// above it.
func TestThere(t *testing.T) {
	t.Parallel()
	b, o, top := lookBinary(t), gittest.NewOracle(t), tempDir(t)
	o.In(top, "init", "-q")
	o.In(top, "config", "core.hooksPath", "own")
	gittest.Create(t, top, gittest.Tree{"below": gittest.Dir()})
	hooks := func(dir string) (string, error) {
		out, err := b.There(t.Context(), dir, []string{"/other", "it's"}, "config", "core.hooksPath").Output()
		return strings.TrimSpace(string(out)), err
	}
	if got, err := hooks(top); got != "own" || err != nil {
		t.Errorf("hooks %q, %v", got, err)
	}
	if got, err := hooks(filepath.Join(top, "below")); err == nil {
		t.Errorf("the repository above counts: %q", got)
	}
	out, err := b.There(t.Context(), top, []string{"/other", "it's"}, "config", "--get-all", "safe.directory").Output()
	if got := strings.Fields(string(out)); err != nil || !slices.Equal(got, []string{"/other", "it's"}) {
		t.Errorf("safe %q, %v", got, err)
	}
}

func TestRemoteEnvironment(t *testing.T) {
	for _, key := range []string{"GIT_DIR", "HOME", "GIT_SSH", "GIT_SSH_COMMAND", "SSH_ASKPASS", "GIT_ASKPASS", "https_proxy"} {
		t.Setenv(key, "/inherited")
	}
	t.Setenv("SSH_AUTH_SOCK", "/agent")
	b := fakeGit(t, `env; echo "args: $*"`)
	dir := tempDir(t)
	for _, home := range []string{"", "/home/me"} {
		out, err := b.Remote(context.Background(), dir, home, "push", "--", "url").Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if strings.Contains(string(out), "inherited") {
			t.Errorf("something is inherited:\n%s", out)
		}
		if !slices.Contains(lines, "SSH_AUTH_SOCK=/agent") || slices.Contains(lines, "HOME=/home/me") != (home != "") {
			t.Errorf("with home %q:\n%s", home, out)
		}
		if !strings.HasSuffix(lines[len(lines)-1], "--git-dir="+dir+" push -- url") || !strings.Contains(string(out), "protocol.allow=never") {
			t.Errorf("arguments:\n%s", out)
		}
	}
}

// R97: a command that reads from its standard input finds it at its end.
func TestR97_CommandsGetNoInput(t *testing.T) {
	t.Parallel()
	out, err := fakeGit(t, `cat; echo end`).Command(t.Context(), "").Output()
	if string(out) != "end\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}
