package main

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
)

// TestDoctorLooksForAgents: in the places of the user and in those of the project.
func TestDoctorLooksForAgents(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	for _, args := range [][]string{{"setup", "gemini"}, {"setup", "qwen", "--project"}} {
		if c := runHere(t, dir, home, "", args...); c.status != cli.ExitDone {
			t.Fatal(c)
		}
	}
	c := runHere(t, dir, home, "", "doctor")
	if !strings.Contains(c.stderr, "Gemini CLI: set up, never heard of") || !strings.Contains(c.stderr, "Qwen Code: set up in this project, ") || strings.Count(c.stderr, "set up") != 2 {
		t.Errorf("%s", c.stderr)
	}
}
