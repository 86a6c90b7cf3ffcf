package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
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
	if c := runHere(t, dir, home, "", "setup", "gemini", "--project"); !strings.Contains(c.stderr, "cairn setup gemini --project --remove") {
		t.Errorf("%s", c.stderr)
	}
	if c := runHere(t, dir, home, "", "doctor"); !strings.Contains(c.stderr, "Gemini CLI: set up in this project, too (its hooks may run twice") {
		t.Errorf("%s", c.stderr)
	}
}

// TestDoctorReadsSecretRules: a file of rules with which no capture succeeds is a finding.
func TestDoctorReadsSecretRules(t *testing.T) {
	t.Parallel()
	home, dir, rules := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "rules.toml")
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n")})
	const good = "[extend]\nuseDefault = true\n"
	for _, test := range []struct{ why, content, policy, want string }{
		{"good", good, "warn", "nothing is wrong"},
		{"damaged", "[[rules]]\nid = \"x\"\nregex = '('\n", "warn", "rules.toml"},
		{"damaged, not read", "[[rules]]\nid = \"x\"\nregex = '('\n", "off", "nothing is wrong"},
		{"absent", "", "warn", "no such file"},
	} {
		if err := os.WriteFile(rules, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if test.content == "" {
			if err := os.Remove(rules); err != nil {
				t.Fatal(err)
			}
		}
		env := map[string]string{"CAIRN_SECRETS": test.policy, "CAIRN_SECRET_RULES": rules}
		run := func(command string) (int, string) {
			var out strings.Builder
			c := newProgram(strings.NewReader(""), &out, &out, homeWith(home, env), dir)
			return c.Run(t.Context(), []string{command}), out.String()
		}
		tracked, _ := run("track")
		status, answer := run("doctor")
		if (status == cli.ExitDone) != (tracked == cli.ExitDone) || !strings.Contains(answer, test.want) {
			t.Errorf("%s: track %d, doctor %d: %s", test.why, tracked, status, answer)
		}
	}
}

// TestDoctorEndsEarly: an error of one part comes after what the parts before have found and mended.
func TestDoctorEndsEarly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there a file in the place of a directory may count as none")
	}
	home, dir, data := t.TempDir(), t.TempDir(), t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n")})
	gittest.Create(t, data, gittest.Tree{"hooks/agents": gittest.File("no directory")})
	if c := runHere(t, dir, home, "", "--data-dir", data, "track"); c.status != cli.ExitDone {
		t.Fatal(c)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(cairn.StorePath(data, real), "cairn", "index")
	for _, args := range [][]string{{"doctor"}, {"doctor", "--json"}, {"doctor", "--fix"}} {
		if err := os.WriteFile(index, []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := runHere(t, dir, home, "", append([]string{"--data-dir", data}, args...)...)
		if c.status != cli.ExitFailed || !strings.Contains(c.stderr, "agents") || !strings.Contains(c.stdout, "drop it; the next track reads every file") {
			t.Errorf("%q: %+v", args, c)
		}
		var found []cairn.Fault
		if err := json.Unmarshal([]byte(c.stdout), &found); slices.Contains(args, "--json") && (err != nil || len(found) != 1) {
			t.Errorf("%v, %+v", err, found)
		}
		if mended := strings.Contains(c.stdout, "    mended: "); mended != slices.Contains(args, "--fix") {
			t.Errorf("%q: %s", args, c.stdout)
		}
	}
	c := runHere(t, dir, home, "", "--data-dir", data, "doctor")
	if c.status != cli.ExitFailed || c.stdout != "" {
		t.Errorf("%+v", c)
	}
}

// TestDoctorNamesFix: where --fix mends something, the answer names it.
func TestDoctorNamesFix(t *testing.T) {
	t.Parallel()
	home, dir, data := t.TempDir(), t.TempDir(), t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n")})
	run := func(args ...string) string {
		t.Helper()
		return runHere(t, dir, home, "", append([]string{"--data-dir", data}, args...)...).stderr
	}
	run("track")
	stores, err := cairn.Stores(data)
	if err != nil || len(stores) != 1 {
		t.Fatalf("stores %+v, %v", stores, err)
	}
	if err := os.Remove(filepath.Join(stores[0].Dir, "HEAD")); err != nil {
		t.Fatal(err)
	}
	const wrong = "cairn: something is wrong"
	if got := run("doctor"); got != wrong+" (cairn doctor --fix mends the store)\n" {
		t.Errorf("%q", got)
	}
	if got := run("doctor", "--fix"); got != "" {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, ".cairn.toml"), []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run("doctor"); !strings.HasSuffix(got, wrong+"\n") {
		t.Errorf("%q", got)
	}
}

// TestDoctorOfANewerStore: the store of a later cairn is one fault, and is not to be moved away.
func TestDoctorOfANewerStore(t *testing.T) {
	t.Parallel()
	home, dir, data := t.TempDir(), t.TempDir(), t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n")})
	runHere(t, dir, home, "", "--data-dir", data, "track")
	stores, err := cairn.Stores(data)
	if err != nil || len(stores) != 1 {
		t.Fatalf("stores %+v, %v", stores, err)
	}
	if err := os.WriteFile(filepath.Join(stores[0].Dir, "cairn", "version"), []byte("99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := runHere(t, dir, home, "", "--data-dir", data, "doctor")
	if strings.Count(c.stdout, "to do: ") != 1 || !strings.Contains(c.stdout, "    to do: use the cairn that made it") {
		t.Errorf("%s", c.stdout)
	}
}
