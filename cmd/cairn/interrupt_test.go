//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestInterruptible is not parallel: signals are for the process. A terminal that is closed sends SIGHUP, and its shell
// sends it again.
func TestInterruptible(t *testing.T) {
	caught := make(chan os.Signal, 3) // a run below nohup ignores SIGHUP, unless something wants it
	signal.Notify(caught, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(caught)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		ctx, catch := interruptible()
		catch()
		if err := syscall.Kill(syscall.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
	}
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

// TestIgnoredSignals: what nohup has set to be ignored stays so.
func TestIgnoredSignals(t *testing.T) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Reset(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	ctx, catch := interruptible()
	catch()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			t.Errorf("%v is not ignored any more", s)
		}
	}
	if ctx.Err() != nil {
		t.Error(ctx.Err())
	}
}

// TestInterrupted: a command whose context ends says so, changes nothing, and prints
// no id (R116).
func TestInterrupted(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "project")
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n"), "d/b": gittest.File("2\n")})
	if c := runHere(t, dir, home, "", "track"); c.status != cli.ExitDone {
		t.Fatal(c)
	}
	replaceTree(t, dir, gittest.Tree{"a": gittest.File("3\n")})
	for _, args := range [][]string{{"restore", "@"}, {"undo"}} { // so that there is something to undo and to redo
		if c := runHere(t, dir, home, "", args...); c.status != cli.ExitDone {
			t.Fatal(c)
		}
	}
	if c := runHere(t, dir, home, "", "restore", "@", "d"); c.status != cli.ExitDone {
		t.Fatal(c)
	}
	before := gittest.Manifest(t, dir, gittest.WantTimes)
	for _, args := range [][]string{
		{"track"}, {"diff"}, {"patch", "@"}, {"status"}, {"restore", "@"}, {"revert", "@", "a"}, {"cat", "@", "a"},
		{"revert", "@..@"}, {"undo"}, {"redo"}, {"log"}, {"log", "a"}, {"show"}, {"blame", "a"}, {"grep", "1"}, {"revert", "@", "-p"},
		{"operations"}, {"pin", "@", "x"}, {"export", "@"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var stdout, stderr bytes.Buffer
		status := newProgram(strings.NewReader(""), &stdout, &stderr, homeOnly(home), dir).Run(ctx, args)
		if status != cli.ExitInterrupted || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "cairn: interrupted") {
			t.Errorf("%s: status %d, stdout %q, stderr %q", args, status, stdout.String(), stderr.String())
		}
	}
	gittest.AssertEqual(t, dir, before, gittest.Manifest(t, dir, gittest.WantTimes))
}

// TestInterruptedInput: a pipe that never ends does not hold a command up.
func TestInterruptedInput(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in, never := io.Pipe()
	defer never.Close()
	var stdout, stderr bytes.Buffer
	c := newProgram(&cancelOnRead{in, cancel}, &stdout, &stderr, homeOnly(t.TempDir()), t.TempDir())
	if status := c.Run(ctx, []string{"revert", "--patches", "-"}); status != cli.ExitInterrupted {
		t.Errorf("status %d: %s", status, stderr.String())
	}
}

// cancelOnRead ends a context at the first read.
type cancelOnRead struct {
	io.Reader
	cancel func()
}

func (r *cancelOnRead) Read(p []byte) (int, error) {
	r.cancel()
	return r.Reader.Read(p)
}
