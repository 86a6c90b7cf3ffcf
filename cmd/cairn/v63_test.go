package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
)

// TestV63_NoInternalsInMessages: what goes wrong is said in words for people, whatever a
// command is given: no functions of Go, no system calls, no quoted line ends.
func TestV63_NoInternalsInMessages(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	s.must("track")
	s.must("session", "step", "begin", "s", "--message", "m", "--step", "one")
	s.must("session", "step", "end", "s")
	s.write("broken.json", "[{\"hash\": 7")
	s.write("wrong.json", `{"hash": "x"}`)
	s.write("number.json", `[{"hash": 7, "files": "a"}]`)
	s.write("cut.bundle", "# v2 git bundle\n0123")
	s.write("file", "x")
	if err := os.MkdirAll(filepath.Join(s.project, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	internals := regexp.MustCompile(`strconv\.|\b(l?stat|open|read|lstat|fstatat|openat|unlink|mkdir|readlink|rename|fork/exec|dial|write) /|invalid character|context (deadline exceeded|canceled)|\bEOF\b|\\n|(^|[^.])\bjson: |cannot unmarshal|unexpected end of JSON|toml: |parsing "|time: |%!|runtime error|goroutine|exec: |exit status \d|invalid argument "`)
	for _, args := range [][]string{
		{"log", "-n", "x"}, {"log", "-n", "99999999999999999999"}, {"log", "-n", ""}, {"log", "--stat=perhaps"},
		{"diff", "-U", "x"}, {"diff", "-U", "-1"}, {"diff", "zz"}, {"diff", "@~x"}, {"diff", "@~99999999999999999999"}, {"diff", "@", "none"},
		{"track", "--timeout", "soon"}, {"track", "--timeout", "-1s"}, {"track", "--timeout", "1"}, {"--max-file-size", "big", "track"},
		{"--max-file-size", "99999999999999999999G", "track"}, {"--max-file-size", "", "track"}, {"--min-free", "x", "track"}, {"--lock-timeout", "x", "track"}, {"--lock-timeout", "1", "track"},
		{"track", "--only-paths", "none/none"}, {"track", "--only-paths", "../out"}, {"track", "--only-paths", ""},
		{"-C", "none", "log"}, {"-C", "file", "log"}, {"-C", "file/below", "log"}, {"-C", "", "log"}, {"--root", "none", "log"}, {"--root", "file", "track"},
		{"--data-dir", "file", "track"}, {"--data-dir", "file/below", "track"}, {"--data-dir", "", "track"},
		{"patch"}, {"patch", "none"}, {"patch", ""}, {"restore", ""}, {"restore", "@", "--plan", "x"}, {"restore", "@", "/"},
		{"revert", "--patches", "none"}, {"revert", "--patches", "dir"}, {"revert", "--patches", "broken.json"}, {"revert", "--patches", "wrong.json"},
		{"revert", "--patches", "number.json"}, {"revert", "--patches", "-"}, {"revert", "@", "--on-conflict", "win"}, {"revert", "@..zz"}, {"revert", ".."}, {"revert"},
		{"undo", "--plan", "x"}, {"undo", "x"}, {"ls", "@", "none"}, {"ls", "@", "file/below"}, {"cat", "@", "dir"}, {"cat", "@", "none"}, {"cat", "@", ""}, {"exists", "@", "../x"},
		{"pin", "@", "a b"}, {"pin", "@", ""}, {"pin", "none", "x"}, {"unpin", "none"}, {"export", "none"}, {"import"}, {"import", "x"},
		{"push"}, {"fetch", "none"}, {"push", "none"}, {"push", "ssh://127.0.0.1:1/x"}, {"fetch", "http://127.0.0.1:1/x"},
		{"session", "show", "none"}, {"session", "begin", ""}, {"session", "begin", "@"}, {"session", "begin", "x", "--meta", "y"},
		{"session", "step", "begin", "s", "--owner", "x"}, {"session", "step", "begin", "s", "--owner", "999999999"}, {"session", "step", "begin", "s", "--lease", "x"},
		{"session", "step", "end", "s", "--step", "none"}, {"session", "revert", "s", "--message", "none"}, {"session", "revert", "s", "--part", "none"}, {"session", "fork", "s", "@"}, {"session", "hint", "s", "../x"},
		{"session", "diff", "s", "--step", "none"}, {"session", "delete", "none"}, {"session", "fork", "s", strings.Repeat("x", 2000)},
		{"wait", "none"}, {"wait", ""}, {"wait", "../x"}, {"wait", "0123456789abcdef", "--timeout", "x"}, {"gc", "x"}, {"gc", "--thorough=x"}, {"purge"}, {"purge", "../x"}, {"purge", ""},
		{"doctor", "--from", "none"}, {"doctor", "--from", ""}, {"setup", "none"}, {"setup"}, {"hook"}, {"run"}, {"run", "--", "no-such-program"}, {"run", "--", "./dir"}, {"run", "--", "./file"},
		{"serve", "--listen", "x"}, {"serve", "--listen", "127.0.0.1:x"}, {"serve", "--listen", "127.0.0.1:99999"}, {"serve", "--listen", "192.0.2.1:0"},
		{"completion", "none"}, {"help", "none"}, {"adopt", "none"}, {"du", "x"}, {"config", "x"}, {"version", "x"}, {"x"}, {"--x"}, {"-x"}, {"--json=x", "log"},
	} {
		for _, in := range []string{"", "{", "[{\"hash\":", "# v2 git bundle\n", "garbage\x00"} {
			_, errs, status := s.run(in, args...)
			if found := internals.FindString(errs); found != "" {
				t.Errorf("%q, status %d: %q in: %s", args, status, found, errs)
			}
			if args[0] != "import" && args[len(args)-1] != "-" {
				break // reads no stdin
			}
		}
	}
}

// TestV63_NoInternalsInSettings: the same for settings, of which the file or the variable
// is named.
func TestV63_NoInternalsInSettings(t *testing.T) {
	t.Parallel()
	internals := regexp.MustCompile(`strconv\.|\b(stat|lstat|open|read) /|toml: |time: |parsing "|\\n|\bEOF\b|invalid character`)
	for _, text := range []string{
		"max_age = \"soon\"", "max_age = 7", "never = \"x\"", "never = [7]", "enabled = \"x\"", "max_file_size = \"big\"", "keep_last = \"x\"",
		"keep_last = 99999999999999999999", "= 7", "max_age", "[project", "[project.\"x\"]\nenabled = 3", "never = [", "a = \"\\q\"", "\xff", "never = [\"[\"]", "max_age = \"1d", "unknown = 1",
	} {
		s := newSeat(t)
		dir := filepath.Join(s.home, ".config", "cairn")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, errs, status := s.run("", "track"); internals.MatchString(errs) || status != cli.ExitDone && !strings.Contains(errs, "config.toml") {
			t.Errorf("%q: status %d: %s", text, status, errs)
		}
	}
	for name, value := range map[string]string{
		"CAIRN_MAX_AGE": "soon", "CAIRN_MAX_BYTES": "big", "CAIRN_KEEP_LAST": "x", "CAIRN_ENABLED": "perhaps", "CAIRN_MAX_FILE_SIZE": "1QB", "CAIRN_LOCK_TIMEOUT": "x",
	} {
		s := newSeat(t)
		s.variables[name] = value
		if _, errs, status := s.run("", "track"); internals.MatchString(errs) || status != cli.ExitDone && !strings.Contains(errs, name) {
			t.Errorf("%s=%s: status %d: %s", name, value, status, errs)
		}
	}
}
