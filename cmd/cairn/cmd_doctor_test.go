package main

import (
	"strings"
	"testing"
)

// TestDoctorLooksForAgents: in the places of the user and in those of the project.
func TestDoctorLooksForAgents(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	for _, args := range [][]string{{"setup", "gemini"}, {"setup", "qwen", "--project"}} {
		if c := runHere(t, dir, home, "", args...); c.status != exitDone {
			t.Fatal(c)
		}
	}
	c := newCLI(strings.NewReader(""), &strings.Builder{}, &strings.Builder{}, homeOnly(home), dir)
	check, err := c.checkAgents()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(check.Lines, "\n")
	if !strings.Contains(got, "Gemini CLI: set up, never heard of") || !strings.Contains(got, "Qwen Code: set up in this project, ") || len(check.Lines) != 2 {
		t.Errorf("%s", got)
	}
}
