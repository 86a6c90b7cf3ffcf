package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// seat is a home with a project, in which command lines are run without a process.
type seat struct {
	*testing.T
	home, project string
	variables     map[string]string
}

func newSeat(t *testing.T) *seat {
	t.Helper()
	home := t.TempDir()
	s := &seat{t, home, filepath.Join(home, "project"), map[string]string{"HOME": home, "USERPROFILE": home, "LocalAppData": home}}
	gittest.Create(t, s.project, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("2\n")})
	return s
}

func (s *seat) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.project, name), []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}

// run runs a command line and returns what it printed and its exit status.
func (s *seat) run(stdin string, args ...string) (stdout, stderr string, status int) {
	s.Helper()
	var out, errs bytes.Buffer
	c := newProgram(strings.NewReader(stdin), &out, &errs, func(name string) string { return s.variables[name] }, s.project)
	status = c.Run(s.Context(), args)
	return out.String(), errs.String(), status
}

// must runs a command line that has to succeed.
func (s *seat) must(args ...string) string {
	s.Helper()
	out, errs, status := s.run("", args...)
	if status != cli.ExitDone && status != cli.ExitPartly {
		s.Fatalf("%q: status %d: %s", args, status, errs)
	}
	return out
}

// noAnswer lists commands whose answer is no JSON: they print contents, a manual or a
// script, or speak a protocol.
var noAnswer = []string{"cat", "export", "completion", "help", "hook", "mcp", "run", "acp", "serve", "push", "fetch", "adopt", "review"}

// TestV64_KeysOfCommands: docs/json.md lists the keys of the answers of all commands.
func TestV64_KeysOfCommands(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	s := newSeat(t)
	words := gittest.ReadWords(t, filepath.Join("..", ".."))
	ran := slices.Clone(noAnswer)
	check := func(args ...string) string {
		t.Helper()
		out := s.must(append([]string{"--json"}, args...)...)
		if out != "" {
			words.Check(t, strings.Join(args, " "), []byte(out))
		}
		ran = append(ran, args[0])
		return out
	}
	var first struct{ Hash, Checkpoint string }
	if err := json.Unmarshal([]byte(check("track", "-m", "first")), &first); err != nil {
		t.Fatal(err)
	}
	s.write("a", "changed\n")
	s.write("new", "n\n")
	check("status")
	check("patch", "@")
	check("diff")
	check("diff", "--stat")
	check("track")
	check("pin", "@", "name")
	check("pin")
	check("log", "--stat")
	check("ls", "@")
	check("exists", "@", "a")
	check("restore", first.Hash, "--dry-run")
	check("checkout", first.Hash, filepath.Join(s.home, "planned"), "--dry-run")
	check("checkout", first.Hash, filepath.Join(s.home, "copy"))
	check("fork", filepath.Join(s.home, "fork"), "--dry-run")
	check("fork", filepath.Join(s.home, "fork"))
	check("forks")
	check("fork", "--remove", filepath.Join(s.home, "fork"), "--dry-run")
	check("fork", "--remove", filepath.Join(s.home, "fork"))
	check("restore", first.Hash)
	check("undo")
	check("redo")
	check("revert", first.Hash, "--dry-run")
	check("operations")
	check("unpin", "name")
	if runtime.GOOS != "windows" { // the commands are those of Unix
		s.must("test", "--", "true")
		s.write("a", "gone wrong\n")
		check("track")
		check("test")
		check("bisect", "@~1", "--", "sh", "-c", "! grep -q wrong a")
		check("log", "-2")
		check("best", "1", "--test", "grep changed a", "--", "sh", "-c", "echo changed > a")
	} else {
		ran = append(ran, "test", "bisect", "best")
	}
	check("compare", "@~1", "--hunk-ids")
	check("merge", "@~1", "--dry-run")
	check("session", "begin", "s", "--meta", "agent=codex", "--meta", "made-up=x", "--title", "t")
	check("session", "step", "begin", "s", "--message", "m", "--role", "user", "--prompt", "do it", "--step", "one", "--path", "c", "--meta", "tool=Bash", "--meta", "command=make")
	s.write("c", "c\n")
	check("session", "step", "end", "s")
	s.write("c", "d\n")
	check("blame", "c", "--deleted")
	check("show")
	check("show", "s")
	check("grep", "d")
	check("grep", "--deleted", "c")
	check("log", "-p")
	s.write("c", "c\n")
	check("session", "list")
	check("session", "show", "s")
	check("resume", "--dry-run")
	check("session", "diff", "s")
	check("session", "undo", "s", "--dry-run")
	check("session", "undo", "s")
	check("session", "show", "s")
	check("session", "redo", "s")
	check("session", "fork", "s", "f", "--message", "m")
	check("session", "show", "f")
	check("session", "begin", "sub", "--parent", "s")
	check("session", "list")
	check("session", "message", "s", "--message", "m2", "--role", "user")
	check("log")
	check("config")
	check("version")
	check("du")
	check("gc", "--dry-run")
	check("gc")
	check("doctor")
	check("verify")
	check("setup", "codex", "--dry-run")
	gittest.NewOracle(t).Init(s.project)
	check("commit", "--session", "f", "--dry-run")
	check("commit", "--session", "s", "--dry-run")
	check("purge", "c")
	check("verify")
	recipient, key := newKey(t)
	check("seal", "--encrypt", recipient, "--identity", key)
	check("unseal", "--identity", key)
	bundle, _, _ := s.run("", "export", "@")
	out, errs, status := s.run(bundle, "--json", "import")
	if status != cli.ExitDone {
		t.Fatal(errs)
	}
	words.Check(t, "import", []byte(out))
	ran = append(ran, "import", "wait") // wait prints what the command prints that made the ticket

	for _, m := range commands(testCLI()) {
		if !slices.Contains(ran, m.Name) {
			t.Errorf("the answer of cairn %s is not checked", m.Name)
		}
	}
}

// TestV64_ErrorsInJSON: with --json the last line of stderr tells status, code, message and
// the next step, of errors of every kind, those of the command line included.
func TestV64_ErrorsInJSON(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	words := gittest.ReadWords(t, filepath.Join("..", ".."))
	s.must("track")
	s.must("session", "step", "begin", "open", "--step", "one")
	for _, c := range []struct {
		args string
		cli.Failure
	}{
		{"--json frobnicate", cli.Failure{Status: 2, Code: "usage", Message: "unknown command", Hint: ""}},
		{"frobnicate --json", cli.Failure{Status: 2, Code: "usage", Message: "unknown command", Hint: ""}},
		{"log --nonsense --json", cli.Failure{Status: 2, Code: "usage", Message: "unknown flag", Hint: ""}},
		{"log -n 0 --json", cli.Failure{Status: 2, Code: "usage", Message: "cannot list 0", Hint: ""}},
		{"operations --json extra", cli.Failure{Status: 2, Code: "usage", Message: "no arguments", Hint: ""}},
		{"restore --json", cli.Failure{Status: 2, Code: "usage", Message: "restore", Hint: ""}},
		{"session --json", cli.Failure{Status: 2, Code: "usage", Message: "session", Hint: ""}},
		{"session --json dance", cli.Failure{Status: 2, Code: "usage", Message: "cannot dance", Hint: ""}},
		{"--json diff 0000000000", cli.Failure{Status: 4, Code: "not-found", Message: "not found", Hint: ""}},
		{"--json restore @~9", cli.Failure{Status: 4, Code: "not-found", Message: "there are only", Hint: ""}},
		{"--json undo --operation", cli.Failure{Status: 4, Code: "not-found", Message: "nothing to undo", Hint: "cairn operations"}},
		{"--json session show none", cli.Failure{Status: 4, Code: "not-found", Message: "none", Hint: ""}},
		{"--json session undo open", cli.Failure{Status: 1, Code: "busy", Message: "session is busy", Hint: "step end"}},
		{"--json session begin @", cli.Failure{Status: 2, Code: "id", Message: "unusable id", Hint: ""}},
		{"--json ls @ ../out", cli.Failure{Status: 2, Code: "outside", Message: "outside the root", Hint: "--root"}},
		{"--json pin @ a..b", cli.Failure{Status: 2, Code: "name", Message: "a..b", Hint: ""}},
		{"--json restore @ --plan 0123456789abcdef", cli.Failure{Status: 1, Code: "moved", Message: "", Hint: "--dry-run"}},
		{"--json import", cli.Failure{Status: 1, Code: "bundle", Message: "", Hint: "cairn export"}},
		{"--json -C nowhere log", cli.Failure{Status: 1, Code: "root", Message: "nowhere", Hint: ""}},
		{"--json ls @ none", cli.Failure{Status: 4, Code: "not-found", Message: "none", Hint: ""}},
	} {
		out, errs, status := s.run("", strings.Fields(c.args)...)
		lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n")
		var got struct{ Error *cli.Failure }
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil || got.Error == nil {
			t.Errorf("%s: %v in %q", c.args, err, errs)
			continue
		}
		words.Check(t, c.args, []byte(lines[len(lines)-1]))
		f := got.Error
		if status != c.Status || f.Status != status || f.Code != c.Code || !strings.Contains(f.Message, c.Message) || !strings.Contains(f.Hint, c.Hint) || f.Message == "" {
			t.Errorf("%s: status %d, %+v, want %+v", c.args, status, *f, c.Failure)
		}
		if out != "" {
			t.Errorf("%s: answered %q", c.args, out)
		}
	}
}
