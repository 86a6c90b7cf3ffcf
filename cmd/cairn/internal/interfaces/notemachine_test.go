package interfaces

import (
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// TestServerHasTheSettingsOfCommands: otherwise it answers none of them, and each looks at everything itself.
func TestServerHasTheSettingsOfCommands(t *testing.T) {
	t.Parallel()
	root, dataDir := t.TempDir(), t.TempDir()
	c := &commands{cli.New(strings.NewReader(""), io.Discard, io.Discard, func(string) string { return "" }, root)}
	c.Global.Root, c.Global.DataDir = root, dataDir
	served, err := c.optionsFor(root, dataDir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, c.Running = range []string{"track", "undo", "hook", "push", "gc"} {
		opt, err := c.Options()
		if err != nil || protocol.Settings("", opt) != protocol.Settings("", served) {
			t.Errorf("%s: %v\n%+v\nserver:\n%+v", c.Running, err, opt, served)
		}
	}
}

// TestMachineOfPushes: each command that may push, or write the note on a remote, knows the name of this machine.
func TestMachineOfPushes(t *testing.T) {
	t.Parallel()
	name, err := os.Hostname()
	if err != nil || name == "" {
		t.Skip("the machine has no name")
	}
	home, root := t.TempDir(), t.TempDir()
	env := func(name string) string {
		if name == "HOME" || name == "USERPROFILE" {
			return home
		}
		return ""
	}
	c := &commands{cli.New(strings.NewReader(""), io.Discard, io.Discard, env, root)}
	for _, c.Running = range []string{"push", "gc", "mcp", "seal"} {
		if opt, err := c.Options(); err != nil || opt.Machine != name || opt.User == "" {
			t.Errorf("%s: machine %q, user %q, %v", c.Running, opt.Machine, opt.User, err)
		}
	}
	opt, err := c.optionsFor(root, t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil || opt.Machine != name || opt.User == "" {
		t.Errorf("serve: machine %q, user %q, %v", opt.Machine, opt.User, err)
	}
}
