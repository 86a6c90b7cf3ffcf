package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// TestTerminalObeysNoFile: nothing that a file or a prompt holds reaches a terminal as a control
// character, with the colours of the program or without.
func TestTerminalObeysNoFile(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b[7m\x1b]0;title\x07 \u009b2J \u202eb\u2069 \x9b \x08\x7f z\rb\n"
	s := newSeat(t)
	gittest.Create(t, s.project, gittest.Tree{
		"f\x1b[m": gittest.File(evil), "c1\u009b31mx": gittest.File(evil), "rtl\u202e\u2066": gittest.File("z\n"), "raw\x9b31m\xe4": gittest.File("z\n"),
	})
	s.must("session", "begin", "demo", "--title", evil, "--meta", "agent=claude\x1b[m")
	s.must("session", "step", "begin", "demo", "--message", "m", "--step", "s", "--role", "user", "--prompt", "say "+evil+evil)
	s.write("a", evil)
	s.write("c1\u009b31mx", "y"+evil)
	s.write("b", strings.ReplaceAll(evil, "z", "y"))
	s.must("session", "step", "end", "demo", "--step", "s")
	s.write("b", evil)
	s.must("track", "-m", evil)
	s.write("a", evil+evil)
	for _, line := range []string{
		"log", "log --stat", "show", "show @:1", "diff", "diff @~1 @", "diff --word-diff @~1 @", "grep z", "grep -c z", "blame a", "blame b --deleted", "blame b -p",
		"status", "operations", "session list", "session show", "session diff",
		"ls @", "ls @ c1\u009b31mx", "patch @~2", "log -p", "diff --stat @~2 @", "diff --name-status @~2 @", "restore @~2 --dry-run", "session undo demo --dry-run", "undo --dry-run",
		"revert @~2 --dry-run", "diff --hunk-ids", "diff --hunk-ids @~2 @", "session diff --hunk-ids", "session diff --step s --hunk-ids",
	} {
		for _, color := range []string{"--color=never", "--color=always"} {
			got := s.onScreen(append(strings.Fields(line), color)...)
			if bad := controls(got); bad != "" || got == "" && line != "operations" {
				t.Errorf("%s %s: %q in\n%q", line, color, bad, got)
			}
		}
	}
	if out := s.must("diff"); !strings.Contains(out, evil) {
		t.Errorf("not exact without a terminal: %q", out)
	}
	if out := s.must("ls", "@"); !strings.Contains(out, "\nc1\u009b31mx\n") {
		t.Errorf("not exact without a terminal: %q", out)
	}
	for line, want := range map[string]string{
		"ls -z @": "\x00c1\u009b31mx\x00", "ls --json @": `"c1` + "\u009b" + `31mx"`, "cat @ c1\u009b31mx": "y" + evil,
		"ls @": "\nc1<U+009B>31mx\n", "ls @ rtl\u202e\u2066": "rtl<U+202E><U+2066>\n",
	} {
		if out := s.onScreen(strings.Fields(line)...); !strings.Contains(out, want) {
			t.Errorf("%s: %q lacks %q", line, out, want)
		}
	}
}

// TestCompareOnTerminal: the lines of a hunk keep their ends on a terminal, and show their control characters.
func TestCompareOnTerminal(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	s.must("track")
	fork := filepath.Join(t.TempDir(), "fork")
	s.must("fork", fork)
	if err := os.WriteFile(filepath.Join(fork, "new"), []byte("one\ntwo \x1b[31m\u009b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := s.onScreen("compare", "--hunk-ids", fork)
	if want := "\n+one\n+two ^[[31m<U+009B>\n"; !strings.Contains(got, want) || controls(got) != "" {
		t.Errorf("%q", got)
	}
}

// TestLogDecorations: on a terminal the names of a checkpoint stand behind its id, as those of tags
// in git log.
func TestLogDecorations(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	s.must("track")
	s.must("pin", "@", "v1")
	s.must("pin", "@", "first")
	s.write("a", "2\n")
	s.must("track")
	lines := strings.Split(s.onScreen("log", "--color=never"), "\n")
	if strings.Contains(lines[0], "(") || !strings.Contains(lines[1][cli.ShortID:], " (first, v1) ") {
		t.Errorf("%q", lines)
	}
	colored := "\x1b[m\x1b[33m (\x1b[m\x1b[1;33mfirst\x1b[m\x1b[33m, \x1b[m\x1b[1;33mv1\x1b[m\x1b[33m)\x1b[m "
	if got := s.onScreen("log", "--color=always"); !strings.Contains(got, colored) {
		t.Errorf("%q", got)
	}
	if out := s.must("log"); strings.Contains(out, "v1") {
		t.Errorf("names without a terminal: %q", out)
	}
}

// onScreen runs a command line as if stdout was a terminal.
func (s *seat) onScreen(args ...string) string {
	s.Helper()
	var out, errs bytes.Buffer
	c := newProgram(strings.NewReader(""), &out, &errs, func(name string) string { return s.variables[name] }, s.project)
	c.OutTerminal = true
	if status := c.Run(s.Context(), args); status != cli.ExitDone && status != cli.ExitPartly {
		s.Errorf("%q: status %d: %s", args, status, errs.String())
	}
	return out.String()
}

// controls returns the control characters of a text that are not the program's own: colours,
// tabs, ends of lines.
func controls(text string) string {
	for _, own := range []string{"\x1b[m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[35m", "\x1b[36m", "\x1b[1;31m", "\x1b[41m"} {
		text = strings.ReplaceAll(text, own, "")
	}
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || wording.IsBidi(r) {
			return r
		}
		return -1
	}, text)
}
