package main

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/hooks"
)

// testCLI has all commands.
func testCLI() *cli.Program {
	c := newProgram(strings.NewReader(""), io.Discard, io.Discard, noEnv, "")
	c.AddCommands(nil)
	return c
}

func noEnv(string) string { return "" }

// TestEveryCommandAsAPrompt: typed as a prompt, each command is carried out or answered with the way to a shell.
func TestEveryCommandAsAPrompt(t *testing.T) {
	t.Parallel()
	for _, cmd := range testCLI().Root.Commands() {
		if !hooks.IsCommand("cairn " + cmd.Name() + " the file") {
			t.Errorf("cairn %s goes to the model", cmd.Name())
		}
	}
}

// TestManualIsComplete: the texts are written by hand, so they are checked against
// what the parser knows, both ways.
func TestManualIsComplete(t *testing.T) {
	t.Parallel()
	c := testCLI()
	global := c.Root.PersistentFlags()
	options := regexp.MustCompile(`(^|[\s\[(])--([a-z][a-z-]+)`)
	for _, cmd := range append(c.Root.Commands(), c.Root) {
		text := cmd.Long
		if !strings.HasPrefix(text, "cairn") || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: text begins or ends oddly", cmd.Name())
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > 80 || strings.ContainsRune(line, '\t') || strings.HasSuffix(line, " ") {
				t.Errorf("%s: line %q", cmd.Name(), line)
			}
		}
		if cmd != c.Root {
			if !strings.Contains(text, "Usage:\n    cairn "+cmd.Use) && !strings.Contains(text, "Usage:\n    cairn "+cmd.Name()) {
				t.Errorf("%s: no usage in the text", cmd.Name())
			}
			if !strings.Contains(c.Root.Long, "\n    "+cmd.Name()+" ") {
				t.Errorf("%s is not in the manual", cmd.Name())
			}
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && cmd != c.Root && !strings.Contains(text, flagText(f)) {
				t.Errorf("%s: option %q is not explained", cmd.Name(), flagText(f))
			}
		})
		for _, found := range options.FindAllStringSubmatch(text, -1) {
			if name := found[2]; cmd.Flags().Lookup(name) == nil && global.Lookup(name) == nil && name != "help" && !ofAnother(c, text, name) {
				t.Errorf("%s: the text speaks of --%s, which does not exist", cmd.Name(), name)
			}
		}
	}
	global.VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(c.Root.Long, "\n    "+flagText(f)) {
			t.Errorf("the manual does not explain %q", flagText(f))
		}
	})
}

func flagText(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand + ", --" + f.Name
	}
	return "--" + f.Name
}

// ofAnother reports whether the option belongs to another command that the text shows
// it with.
func ofAnother(c *cli.Program, text, name string) bool {
	for _, cmd := range c.Root.Commands() {
		if cmd.Flags().Lookup(name) == nil {
			continue
		}
		for line := range strings.Lines(text) {
			if at := strings.Index(line, "cairn "+cmd.Name()+" "); at >= 0 && strings.Contains(line[at:], "--"+name) {
				return true
			}
		}
	}
	return false
}

// TestEveryCommandIsReady: each says what it completes.

func TestEveryCommandIsReady(t *testing.T) {
	t.Parallel()
	for _, cmd := range testCLI().Root.Commands() {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: one line about it: %q", cmd.Name(), cmd.Short)
		}
		if cmd.ValidArgsFunction == nil {
			t.Errorf("%s completes nothing", cmd.Name())
		}
		if cmd.Args == nil && cmd.Name() != "diff" && cmd.Name() != "revert" { // which check for themselves
			t.Errorf("%s takes any arguments", cmd.Name())
		}
	}
}
