package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
)

// TestHookFiles: the hook files in integrations, which are there to be read, are what
// setup writes, but for the place of the program.
func TestHookFiles(t *testing.T) {
	t.Parallel()
	program := regexp.MustCompile(`"command": "[^\n]* hook `)
	for agent, written := range map[string]string{
		"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json", "qwen": ".qwen/settings.json",
	} {
		home, dir := t.TempDir(), t.TempDir()
		if c := runHere(t, dir, home, "", "setup", agent); c.status != cli.ExitDone {
			t.Fatalf("%s: %+v", agent, c)
		}
		data, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(written)))
		if err != nil {
			t.Fatal(err)
		}
		now := program.ReplaceAllString(string(data), `"command": "cairn hook `)
		name := filepath.Join("..", "..", "integrations", agent, filepath.Base(written))
		if want, err := os.ReadFile(name); err != nil || string(want) != now {
			t.Errorf("%s is not what setup writes: %v\n%s", name, err, now)
		}
	}
}
