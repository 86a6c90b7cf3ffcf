package workdirs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// TestOnLine: command lines of each agent, as it and its packages are started.
func TestOnLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ agent, lines, want string }{
		{known.Claude, "sh -c x|claude -p --add-dir ../lib /b --model m", "../lib /b"},
		{known.Claude, "/opt/claude --add-dir=../lib --add-dir ../more", "../lib ../more"},
		{known.Claude, "/node_modules/claude-code-linux-x64/claude --add-dir a", "a"},
		{known.Claude, "node --expose-gc /n/@anthropic-ai/claude-code/cli.js --add-dir a", "a"},
		{known.Claude, `C:\bin\Claude.EXE --add-dir a`, "a"},
		{known.Claude, "claude -p -- --add-dir a", ""},
		{known.Claude, "claude --add-dir", ""},
		{known.Claude, "claude --add-dir --model m", ""},
		{known.Claude, "claude --add-dirs a --x-add-dir b", ""},
		{known.Claude, "claude -p|claude --add-dir a", ""}, // the one above is another session
		{known.Claude, "bash|tmux", ""},
		{known.Claude, "node /home/me/tool.js --add-dir a", ""},
		{known.Claude, "vim claude --add-dir a", ""},
		{known.Claude, "|", ""},
		{known.Gemini, "node /n/@google/gemini-cli/bundle/gemini.js --include-directories ../lib,/b --include-directories c d", "../lib /b c"},
		{known.Gemini, "node /bin/gemini --include-directories=a,b", "a b"},
		{known.Gemini, "claude --add-dir a|node /bin/gemini --include-directories b", "b"},
		{known.Gemini, "claude --add-dir a", ""},
		{known.Qwen, "node --x /n/@qwen-code/qwen-code/cli.js --include-directories a b,c --yolo d", "a b c"},
		{known.Qwen, "qwen --add-dir a", "a"},
		{known.Copilot, "/n/@github/copilot-linux-x64/copilot --add-dir a b --add-dir c", "a c"},
		{known.Codex, "codex --add-dir a", ""},
		{known.Cursor, "cursor --add-dir a", ""},
	} {
		s := Sources{Agent: c.agent, Lines: func(yield func([]string) bool) {
			for line := range strings.SplitSeq(c.lines, "|") {
				if !yield(strings.Fields(line)) {
					return
				}
			}
		}}
		if got := strings.Join(s.onLine(), " "); got != c.want {
			t.Errorf("%s, %q: %q, want %q", c.agent, c.lines, got, c.want)
		}
	}
	if got := (&Sources{Agent: known.Claude}).onLine(); got != nil {
		t.Errorf("no processes: %q", got)
	}
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestInSettings: what each agent's settings list, of several files. A damaged one lists nothing.
func TestInSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string { return write(t, filepath.Join(dir, name), text) }
	both := file("both", "{// a comment\n\"permissions\":{\"additionalDirectories\":[\"a\",\"~/b\"],},\"context\":{\"includeDirectories\":[\"c\"]}}")
	more := file("more", `{"permissions":{"additionalDirectories":["d"]},"context":{"includeDirectories":["e"]}}`)
	bad := []string{file("bad", "{"), file("type", `{"permissions":{"additionalDirectories":"x"},"context":[]}`), filepath.Join(dir, "none"), dir}
	for agent, want := range map[string]string{known.Claude: "a ~/b d", known.Gemini: "c e", known.Qwen: "c e", known.Codex: "", known.Droid: ""} {
		s := Sources{Agent: agent, Settings: slices.Concat([]string{both}, bad, []string{more})}
		if got := strings.Join(s.inSettings(), " "); got != want {
			t.Errorf("%s: %q, want %q", agent, got, want)
		}
	}
}

// TestHostileSettings: a file that is deep or long costs neither the process nor much time.
func TestHostileSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"arrays": strings.Repeat("[", maxSettings), "objects": strings.Repeat(`{"a":`, maxSettings/5), "hidden": strings.Repeat(`["]",`, maxSettings/5)} {
		s := Sources{Agent: known.Claude, Settings: []string{write(t, filepath.Join(dir, name), text)}}
		if got := s.inSettings(); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	long := `{"permissions":{"additionalDirectories":["` + strings.Repeat(`.","`, 20_000) + `."]}}`
	s := Sources{Agent: known.Claude, Project: dir, Settings: []string{write(t, filepath.Join(dir, "long"), long)}}
	asked := 0
	s.Roots(func(string) (string, error) { asked++; return "", errors.New("no root") })
	if asked != maxDirs {
		t.Errorf("%d directories were looked at", asked)
	}
}

// TestInRecord: Codex' record. The last line counts, the first one where that is far away, and neither what a
// tool prints nor another entry.
func TestInRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const meta, turn = `{"type":"session_meta","payload":{"cwd":"/p","runtime_workspace_roots":["/p","/lib"]}}` + "\n",
		`{"type":"turn_context","payload":{"runtime_workspace_roots":["/p","/lib","/more"]}}` + "\n"
	const quoted = `{"type":"response_item","payload":{"output":"{\"runtime_workspace_roots\":[\"/x\"]}"}}` + "\n"
	const other = `{"type":"tool_call","payload":{"runtime_workspace_roots":["/x"]}}` + "\n"
	long := strings.Repeat(`{"type":"response_item"}`+"\n", recordEnd/20)
	for name, c := range map[string]struct{ text, want string }{
		"begun": {meta, "/p /lib"}, "a turn": {meta + turn + quoted + other, "/p /lib /more"}, "long": {meta + long, "/p /lib"},
		"long with a turn": {meta + long + turn, "/p /lib /more"}, "torn": {meta + turn[:40], "/p /lib"}, "empty": {"", ""}, "no roots": {quoted + other, ""},
	} {
		s := Sources{Agent: known.Codex, Record: write(t, filepath.Join(dir, name), c.text)}
		if got := strings.Join(s.inRecord(), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, s := range []Sources{{Agent: known.Codex}, {Agent: known.Codex, Record: dir}, {Agent: known.Claude, Record: filepath.Join(dir, "begun")}} {
		if got := s.inRecord(); got != nil {
			t.Errorf("%+v: %q", s, got)
		}
	}
}

// TestRoots: which directories count. Those of an agent's own files, of settings in the home directory and for
// temporary files do not.
func TestRoots(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links and paths of Unix")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, name) }
	for _, name := range []string{
		"home/p", "home/lib/sub", "lib/.git", "lib/src", "home/.cache/x", "home/.dots/.git", "home/.dots/d", "own/records", "home/re,po", "home/~",
	} {
		if err := os.MkdirAll(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("lib"), at("way")); err != nil {
		t.Fatal(err)
	}
	write(t, at("home/file"), "")
	rootOf := func(dir string) (string, error) {
		switch {
		case dir == at("home/lib/sub"):
			return "", errors.New("no root")
		case strings.HasPrefix(dir, at("lib")):
			return at("lib"), nil
		case dir == at("home/re,po"):
			return at("home"), nil // a store of the home directory
		}
		return dir, nil
	}
	for _, c := range []struct{ dirs, want string }{
		{"../lib", "home/lib"}, {"../../lib/src ../../lib", "lib"}, {at("way") + "/src", "lib"}, {"~/lib ~/lib/.", "home/lib"}, {"~x", ""},
		{".", "home/p"}, {"gone ../file", ""}, {"\x00", ""}, {"~/lib/sub", ""}, {"~/re,po", ""}, {"./~", ""}, {"../~", "home/~"},
		{"~ .. ../.. / " + os.TempDir() + " /tmp /var/tmp " + filepath.Dir(os.TempDir()), ""},
		{"~/.cache ~/.cache/x", ""}, {"~/.dots/d", "home/.dots/d"}, {at("own") + " " + at("own/records"), ""},
	} {
		s := Sources{
			Agent: known.Claude, Project: at("home/p"), Home: at("home"), Private: []string{"", at("own")},
			Lines: slices.Values([][]string{append([]string{"claude", "--add-dir"}, strings.Fields(c.dirs)...)}),
		}
		var want []string
		for _, name := range strings.Fields(c.want) {
			want = append(want, at(name))
		}
		if got := s.Roots(rootOf); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", c.dirs, got, want)
		}
	}
}

// TestRootsOfAllSources: each source counts, once, and without a home directory "~" is a name.
func TestRootsOfAllSources(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, name) }
	for _, name := range []string{"p", "a", "b", "c", "~"} {
		if err := os.Mkdir(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	same := func(dir string) (string, error) { return dir, nil }
	for agent, want := range map[string][]string{known.Gemini: {at("a"), at("b"), at("c"), at("~")}, known.Qwen: {at("a"), at("b")}} {
		s := Sources{
			Agent: agent, Project: at("p"), Settings: []string{write(t, at("s.json"), `{"context":{"includeDirectories":["../b","../a"]}}`)},
			Lines: slices.Values([][]string{{"node", "/bin/" + agent, "--include-directories", "../a"}}),
			Env: func(name string) string {
				if name != "GEMINI_CLI_IDE_WORKSPACE_PATH" {
					return ""
				}
				return at("c") + string(os.PathListSeparator) + at("b") + string(os.PathListSeparator) + "../~"
			},
		}
		if got := s.Roots(same); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", agent, got, want)
		}
	}
}
