package setup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// TestEveryAgentHasAConnection: the list of agents and the table of connections name the same.
func TestEveryAgentHasAConnection(t *testing.T) {
	t.Parallel()
	for i, a := range known.All() {
		if i >= len(agents()) || agents()[i].Name != a.Name {
			t.Errorf("%s has no connection in its place", a.Name)
		}
	}
	if len(agents()) != len(known.All()) {
		t.Errorf("%d connections of %d agents", len(agents()), len(known.All()))
	}
}

// TestWholeFiles: for agents whose files are cairn's as a whole, setup makes each, a second
// run has nothing to do, the program is found again, a missing file is noticed, and removing
// leaves nothing.
func TestWholeFiles(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		if a.settings != "" {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			p, _ := places(t)
			opt := Options{Places: p, Program: program}
			plan := apply(t, a.Name, opt)
			if len(plan.Changes) != len(a.files(program)) || len(plan.Notes) == 0 {
				t.Errorf("%d changes, notes %q", len(plan.Changes), plan.Notes)
			}
			if again := apply(t, a.Name, opt); len(again.Changes) != 0 {
				t.Errorf("second run: %+v", again.Changes)
			}
			if s := statusOf(t, p, a.Name); !s.Complete || len(s.Program) != 1 || s.Program[0] != program[0] {
				t.Errorf("%+v", s)
			}
			if a.answer > 0 && Waits(a.Name, p) != a.answer {
				t.Errorf("waits %v", Waits(a.Name, p))
			}
			for _, f := range a.files(program)[1:] {
				path := filepath.Join(a.home(p), filepath.FromSlash(f.path))
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				if s := statusOf(t, p, a.Name); s.Complete || !s.SetUp {
					t.Errorf("without %s: %+v", f.path, s)
				}
				write(t, path, f.text)
			}
			moved := opt
			moved.Program = []string{`/it's here/cairn`, "--data-dir", "/my data"}
			apply(t, a.Name, moved)
			if s := statusOf(t, p, a.Name); !s.Complete || !slices.Equal(s.Program, moved.Program) {
				t.Errorf("after a move: %+v", s)
			}
			apply(t, a.Name, Options{Places: p, Program: program, Remove: true})
			if _, err := os.Stat(filepath.Join(a.home(p), filepath.FromSlash(a.files(program)[0].path))); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something is left: %v", err)
			}
		})
	}
}

// TestWholeFilesOfAnotherVersion: what another version has made is replaced and removed without a copy.
func TestWholeFilesOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		if a.files == nil {
			continue
		}
		for _, remove := range []bool{false, true} {
			p, home := places(t)
			opt := Options{Places: p, Program: program, Remove: remove}
			for _, f := range a.files([]string{"/old/cairn"}) {
				write(t, filepath.Join(a.home(p), filepath.FromSlash(f.path)), stamped(f.text+"another version"))
			}
			apply(t, a.Name, opt)
			opt.Remove = true
			apply(t, a.Name, opt)
			if left := below(t, home, ""); len(left) > 0 {
				t.Errorf("%s: left %q", a.Name, left)
			}
		}
	}
}

// TestWholeFilesOfOthers: a file of the same name that is not cairn's stays.
func TestWholeFilesOfOthers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{known.Copilot, known.Goose, known.Cline, known.Kilo} {
		a, err := agentOf(name)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := places(t)
		path := filepath.Join(a.home(p), filepath.FromSlash(a.files(program)[0].path))
		write(t, path, "theirs\n")
		if _, err := New(name, Options{Places: p, Program: program}); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v", name, err)
		}
		apply(t, name, Options{Places: p, Program: program, Remove: true})
		if got := contents(t, path); got != "theirs\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestFormsOfFiles: what the vendors' documents ask for.
func TestFormsOfFiles(t *testing.T) {
	t.Parallel()
	var copilot struct {
		Version int
		Hooks   map[string][]struct {
			Type, Bash, PowerShell string
			TimeoutSec             int
		}
	}
	if err := json.Unmarshal([]byte(copilotFiles(program)[0].text), &copilot); err != nil {
		t.Fatal(err)
	}
	prompt := copilot.Hooks["UserPromptSubmit"]
	if copilot.Version != 1 || len(prompt) != 1 || prompt[0].Type != "command" || prompt[0].TimeoutSec != waited ||
		prompt[0].Bash != `'/opt/my tools/cairn' hook copilot` || prompt[0].PowerShell != `& '/opt/my tools/cairn' hook copilot` {
		t.Errorf("%+v", copilot)
	}
	var goose struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Type, Command string
				Timeout       int
			}
		}
	}
	if err := json.Unmarshal([]byte(gooseFiles(program)[0].text), &goose); err != nil {
		t.Fatal(err)
	}
	if before := goose.Hooks["PreToolUse"]; len(before) != 1 || before[0].Hooks[0].Command != `'/opt/my tools/cairn' hook goose` || before[0].Hooks[0].Timeout != patience {
		t.Errorf("%+v", goose)
	}
}

// TestClineOnWindows: there Cline runs PowerShell.
func TestClineOnWindows(t *testing.T) {
	t.Parallel()
	program := []string{`C:\Users\Jürgen O'Neil\cairn.exe`}
	for _, f := range clineFilesOn("windows", program) {
		if !strings.HasSuffix(f.path, ".ps1") || !strings.HasPrefix(f.text, "\xef\xbb\xbf# ") || !f.isOurs(f.text) ||
			!strings.Contains(f.text, `& 'C:\Users\Jürgen O''Neil\cairn.exe' hook cline`) {
			t.Errorf("%s: %s", f.path, f.text)
		}
		if got := programIn(f.text, known.Cline); len(got) != 1 || got[0] != program[0] {
			t.Errorf("%s: program %q", f.path, got)
		}
	}
	for _, f := range clineFilesOn("darwin", program) {
		if !strings.HasPrefix(f.text, "#!/bin/sh\n") || f.mode&0o100 == 0 {
			t.Errorf("%s: %v %s", f.path, f.mode, f.text)
		}
	}
}

// TestToolServer: for every form of file, setup adds the entry once, another path of cairn
// replaces it, and removing brings back the very bytes, or leaves what others have added.
func TestToolServer(t *testing.T) {
	t.Parallel()
	a, err := agentOf(known.Amp)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"servers": "{\n  \"amp.mcpServers\": {\n    \"web\": {\"command\": \"npx\", \"args\": [\"web\"]}\n  }\n}\n"}
	for name, text := range settingsFiles {
		files[name] = text
	}
	for name, before := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := places(t)
			path := a.settingsPath(p)
			write(t, path, before)
			opt := Options{Places: p, Program: program}
			apply(t, a.Name, opt)
			checkForm(t, before, contents(t, path))
			var made struct {
				Servers map[string]server `json:"amp.mcpServers"`
			}
			if err := json.Unmarshal([]byte(standard(t, contents(t, path))), &made); err != nil {
				t.Fatal(err)
			}
			if s := made.Servers["cairn"]; s.Command != program[0] || len(s.Args) != 1 || s.Args[0] != "mcp" {
				t.Errorf("%+v", made)
			}
			if again := apply(t, a.Name, opt); len(again.Changes) != 0 {
				t.Errorf("second run: %+v", again.Changes)
			}
			opt.Program = []string{"/usr/local/bin/cairn", "--data-dir", "/d"}
			apply(t, a.Name, opt)
			if s := statusOf(t, p, a.Name); len(s.Program) != 3 || s.Program[0] != opt.Program[0] {
				t.Errorf("%+v", s)
			}
			opt.Remove = true
			apply(t, a.Name, opt)
			if got := contents(t, path); got != before {
				t.Errorf("removing left %q, not %q", got, before)
			}
		})
	}
}

// TestToolServerOfTheUser: an update changes how cairn is started, and leaves what the user has added to the entry.
func TestToolServerOfTheUser(t *testing.T) {
	t.Parallel()
	p, _ := places(t)
	a, err := agentOf(known.Amp)
	if err != nil {
		t.Fatal(err)
	}
	path := a.settingsPath(p)
	const theirs = `{
  "amp.mcpServers": {
    "cairn": {
      "command": "/old/cairn", // moved
      "args": ["mcp"],
      "env": {"CAIRN_KEEP": "all"}
    }
  }
}
`
	write(t, path, theirs)
	apply(t, a.Name, Options{Places: p, Program: program})
	if got, want := contents(t, path), strings.Replace(theirs, "/old/cairn", program[0], 1); got != want {
		t.Errorf("%s", got)
	}
	apply(t, a.Name, Options{Places: p, Program: []string{program[0], "--data-dir", "/d"}})
	if got := contents(t, path); !strings.Contains(got, `"env": {"CAIRN_KEEP": "all"}`) || !strings.Contains(got, "// moved") {
		t.Errorf("%s", got)
	}
	if s := statusOf(t, p, a.Name); !slices.Equal(s.Program, []string{program[0], "--data-dir", "/d"}) {
		t.Errorf("%+v", s)
	}
}

// TestToolServerOfOthers: a server of the same name that is not cairn's stays, and so does a list of another form.
func TestToolServerOfOthers(t *testing.T) {
	t.Parallel()
	a, err := agentOf(known.Amp)
	if err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string]error{
		`{"cairn": {"command": "/opt/weather", "args": ["mcp"]}}`:      ErrForeign,
		`{"cairn": {"command": "/opt/cairn-maps", "args": ["serve"]}}`: ErrForeign,
		`{"cairn": {"url": "https://example.com/mcp"}}`:                ErrForeign,
		`{"cairn": 1}`: ErrForeign,
		`5`:            errForm,
		`[]`:           errForm,
		`null`:         errForm,
	} {
		p, _ := places(t)
		text := `{"amp.mcpServers": ` + list + "}\n"
		write(t, a.settingsPath(p), text)
		if _, err := New(a.Name, Options{Places: p, Program: program}); !errors.Is(err, want) {
			t.Errorf("%s: %v", list, err)
		}
		if s := statusOf(t, p, a.Name); s.SetUp {
			t.Errorf("%s: %+v", list, s)
		}
		apply(t, a.Name, Options{Places: p, Program: program, Remove: true})
		if got := contents(t, a.settingsPath(p)); got != text {
			t.Errorf("%q", got)
		}
	}
}
