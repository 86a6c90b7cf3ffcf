package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestManPages: every command has a page, with every word of its manual, and the programs that show
// pages have nothing to complain about.
func TestManPages(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	dir, home := filepath.Join(t.TempDir(), "man", "man1"), t.TempDir()
	if c := runHere(t, home, home, "", "help", "--man", dir); c.status != cli.ExitDone || c.stdout+c.stderr != "" {
		t.Fatalf("%+v", c)
	}
	root := testCLI().Root
	texts := map[string]string{"cairn": root.Long}
	for _, cmd := range root.Commands() {
		texts["cairn-"+cmd.Name()] = cmd.Long
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(texts) {
		t.Errorf("%d pages of %d, %v", len(entries), len(texts), err)
	}
	for name, text := range texts {
		page := filepath.Join(dir, name+".1")
		if roff, err := os.ReadFile(page); err != nil || !strings.Contains(string(roff), `.SH "SYNOPSIS"`) {
			t.Errorf("%s: %v", page, err)
		}
		lint(t, "mandoc", "-Tlint", "-Wwarning", page)
		missing(t, name, text, lint(t, "groff", "-man", "-Tascii", "-P-cbou", "-ww", "-rLL=300n", page))
	}
}

// lint runs a program that shows pages and returns what it prints, "" if it is not installed.
func lint(t *testing.T, program string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Logf("%s is not installed", program)
		return ""
	}
	cmd := exec.Command(path, args...)
	var out, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil || complaint.Len() > 0 {
		t.Errorf("%s %q: %v: %s%s", program, args, err, complaint.String(), out.String())
	}
	return out.String()
}

// missing looks for the words of a manual on its page. Headings are spelled differently there.
func missing(t *testing.T, name, text, page string) {
	t.Helper()
	if page == "" {
		return
	}
	text = regexp.MustCompile(`(?m)^[A-Z][a-z ]+:$`).ReplaceAllString(text, "")
	words := make(map[string]int)
	for _, word := range strings.Fields(page) {
		words[word]++
	}
	for _, word := range strings.Fields(text) {
		if words[word]--; words[word] < 0 {
			t.Errorf("%s: %q is not on the page, or not as often", name, word)
		}
	}
}
