//go:build unix

package child

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func noTerminal() (*os.File, error) { return nil, fs.ErrNotExist }

// TestStatus: the status of a command is its own, or 128 and the number of the signal that
// killed it.
func TestStatus(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -TERM $$": 128 + 15} {
		var out bytes.Buffer
		relay := NewRelay(noTerminal)
		cmd, err := New([]string{"sh", "-c", "pwd; " + script}, "/", nil, &out, nil)
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := relay.Wait(cmd); got != want || out.String() != "/\n" {
			t.Errorf("%s: status %d, want %d; in %q", script, got, want, out.String())
		}
		relay.Stop()
	}
}

// TestFault: a command that is missing and a command that cannot be run have the statuses
// of a shell.
func TestFault(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"no-such-command-of-cairn": NotFound, file + "-missing": NotFound, file: CannotRun} {
		cmd, err := New([]string{name}, "", nil, nil, nil)
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			t.Fatalf("%s: it runs", name)
		}
		status, reason := Fault(err)
		if status != want || reason == "" || strings.Contains(reason, "fork/exec") {
			t.Errorf("%s: status %d, want %d: %s (%v)", name, status, want, reason, err)
		}
	}
}

// TestRedirect: a redirected signal ends the context and does not reach the command.
func TestRedirect(t *testing.T) {
	t.Parallel()
	relay := &Relay{make(chan os.Signal, 1), noTerminal}
	cancelled := make(chan struct{})
	back := relay.Redirect(func() { close(cancelled) })
	relay.signals <- os.Interrupt
	<-cancelled
	back()
	if n := len(relay.signals); n != 0 {
		t.Errorf("%d signals are left for the command", n)
	}
}
