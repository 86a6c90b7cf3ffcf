package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

var program = []string{"/opt/my tools/cairn"}

// places are those of a home of its own.
func places(t *testing.T) (Places, string) {
	t.Helper()
	home := t.TempDir()
	p := Places{Dirs: make(map[string]string)}
	for _, name := range known.Names() {
		p.Dirs[name] = filepath.Join(home, strings.TrimSuffix(name, "-code"))
	}
	return p, home
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func apply(t *testing.T, name string, opt Options) *Plan {
	t.Helper()
	p, err := New(name, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(); err != nil {
		t.Fatal(err)
	}
	return p
}

// settingsFiles are what users have in such files.
var settingsFiles = map[string]string{
	"empty":         "",
	"blank":         "\n\n",
	"object":        "{}",
	"object line":   "{}\n",
	"object lines":  "{\n}\n",
	"object blanks": "{   }",
	"compact":       `{"model":"opus","permissions":{"allow":["Bash"]}}`,
	"two spaces":    "{\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"allow\": [\"Bash\"]\n  }\n}\n",
	"four spaces":   "{\n    \"model\": \"opus\"\n}",
	"tabs":          "{\n\t\"model\": \"opus\",\n\t\"env\": {\n\t\t\"A\": \"b\"\n\t}\n}\n",
	"crlf":          "{\r\n  \"model\": \"opus\",\r\n  \"env\": {}\r\n}\r\n",
	"bom":           byteOrderMark + "{\n  \"model\": \"opus\"\n}\n",
	"bom crlf":      byteOrderMark + "{\r\n\t\"model\": \"opus\"\r\n}",
	"comments":      "// settings\n{\n  // the model\n  \"model\": \"opus\", // good one\n  /* and\n     more */\n  \"env\": { \"A\": \"b\" } // last\n  // end\n}\n// bye\n",
	"only comments": "{\n  // nothing yet\n}\n",
	"inner comment": "{ /* nothing */ }",
	"trailing":      "{\n  \"model\": \"opus\",\n}\n",
	"odd trailing":  "{\n  \"model\": \"opus\"\n  , // here\n}\n",
	"last line":     "{\n  \"model\": \"opus\"}",
	"other hooks": `{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash", // guard
        "hooks": [
          { "type": "command", "command": "/usr/bin/guard hook" }
        ]
      }
    ],
    "BeforeTool": [],
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
  },
  "model": "opus"
}
`,
	"empty hooks":   "{\n  \"hooks\": {}\n}\n",
	"twice":         "{\n  \"hooks\": {\"Stop\": []},\n  \"hooks\": {}\n}\n",
	"nonascii":      "{\n  \"prompt\": \"grüße \\u00e9 <&> 日本\"\n}\n",
	"escaped names": "{\n  \"ho\\u006fks\": {\"Stop\": []}\n}\n",
}

// withoutOurs is what others have in a file, in a form that can be compared.
func standard(t *testing.T, data string) string {
	t.Helper()
	data = strings.TrimPrefix(data, byteOrderMark)
	if strings.TrimSpace(data) == "" {
		data = "{}"
	}
	plain, err := hujson.Standardize([]byte(data))
	if err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	var v any
	if err := json.Unmarshal(plain, &v); err != nil {
		t.Fatal(err)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// TestSettingsRoundTrip: for every agent and every form of file, setup adds one entry
// for each event, a second run has nothing to do, another path of cairn changes only
// the paths, and removing brings back the very bytes.
func TestSettingsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		if a.settings == "" || a.Tools {
			continue
		}
		for name, before := range settingsFiles {
			t.Run(a.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				p, _ := places(t)
				path := a.settingsPath(p)
				write(t, path, before)
				opt := Options{Places: p, Program: program}
				plan := apply(t, a.Name, opt)
				if len(plan.Notes) == 0 {
					t.Error("nothing is said about what to do next")
				}
				after := contents(t, path)
				checkEntries(t, a, after, commandLine(program, a.Name))
				checkForm(t, before, after)
				if got := contents(t, path+backupSuffix); got != before {
					t.Errorf("backup is %q", got)
				}
				if again := apply(t, a.Name, opt); len(again.Changes) != 0 {
					t.Errorf("second run: %+v", again.Changes)
				}

				opt.Program = []string{"/usr/local/bin/cairn"}
				apply(t, a.Name, opt)
				moved := contents(t, path)
				want := strings.ReplaceAll(after, encoded(commandLine(program, a.Name)), encoded(commandLine(opt.Program, a.Name)))
				if moved != want {
					t.Errorf("another path made\n%s\nnot\n%s", moved, want)
				}

				opt.Remove = true
				apply(t, a.Name, opt)
				if got := contents(t, path); got != before {
					t.Errorf("removing left %q, not %q", got, before)
				}
				if _, err := os.Stat(path + backupSuffix); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("backup is left: %v", err)
				}
				if again := apply(t, a.Name, opt); len(again.Changes) != 0 {
					t.Errorf("second removal: %+v", again.Changes)
				}
			})
		}
	}
}

func encoded(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func checkEntries(t *testing.T, a *agent, data, command string) {
	t.Helper()
	parsed, err := parseText([]byte(data))
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	found := make(map[string]int)
	hookFile{a, parsed}.each(func(at place) bool {
		found[at.event]++
		if got := commandOf(at.handler); got != command {
			t.Errorf("%s runs %q, not %q", at.event, got, command)
		}
		return true
	})
	for _, e := range a.events {
		if found[e.name] != 1 {
			t.Errorf("%d entries for %s in\n%s", found[e.name], e.name, data)
		}
	}
	if len(found) != len(a.events) {
		t.Errorf("entries for %v", found)
	}
}

// checkForm: every line that was there still is, up to the comma that had to follow
// it, and line ends and byte order mark are those of the file.
func checkForm(t *testing.T, before, after string) {
	t.Helper()
	if strings.HasPrefix(before, byteOrderMark) != strings.HasPrefix(after, byteOrderMark) {
		t.Error("byte order mark")
	}
	if strings.Contains(before, "\r\n") && strings.Count(after, "\n") != strings.Count(after, "\r\n") {
		t.Errorf("mixed line ends: %q", after)
	}
	rest := strings.ReplaceAll(after, ",", "")
	for line := range strings.Lines(strings.ReplaceAll(before, ",", "")) {
		line = strings.TrimRight(line, " \t\r\n}{][")
		i := strings.Index(rest, line)
		if i < 0 {
			t.Fatalf("%q is gone or moved in\n%s", line, after)
		}
		rest = rest[i+len(line):]
	}
}

// TestRemoveAmongChanges: an edit of the file in between stays, and only cairn's entries go.
func TestRemoveAmongChanges(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		if a.settings == "" {
			continue
		}
		for name, before := range settingsFiles {
			t.Run(a.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				p, _ := places(t)
				path := a.settingsPath(p)
				write(t, path, before)
				opt := Options{Places: p, Program: program}
				apply(t, a.Name, opt)
				edited, err := parseText([]byte(contents(t, path)))
				if err != nil {
					t.Fatal(err)
				}
				if err := edited.insert(&edited.root, "mine", []string{"kept"}); err != nil {
					t.Fatal(err)
				}
				write(t, path, string(edited.bytes()))
				opt.Remove = true
				apply(t, a.Name, opt)
				got := contents(t, path)
				if strings.Contains(got, "cairn") {
					t.Errorf("left in\n%s", got)
				}
				var have, want map[string]any
				json.Unmarshal([]byte(standard(t, got)), &have)
				json.Unmarshal([]byte(standard(t, before)), &want)
				want["mine"] = []any{"kept"}
				if a.form == versioned {
					want["version"] = 1 // Cursor reads no file without it
				}
				if hooks, ok := want["hooks"].(map[string]any); ok && have["hooks"] == nil && onlyEmpty(hooks) {
					delete(want, "hooks") // an empty object is removed as well
				}
				h, _ := json.Marshal(dropEmpty(have))
				w, _ := json.Marshal(dropEmpty(want))
				if !bytes.Equal(h, w) {
					t.Errorf("has %s\nnot %s\nin %s", h, w, got)
				}
			})
		}
	}
}

func onlyEmpty(hooks map[string]any) bool {
	for _, v := range hooks {
		if list, ok := v.([]any); !ok || len(list) > 0 {
			return false
		}
	}
	return true
}

func dropEmpty(settings map[string]any) map[string]any {
	if hooks, ok := settings["hooks"].(map[string]any); ok {
		for name, v := range hooks {
			if list, ok := v.([]any); ok && len(list) == 0 {
				delete(hooks, name)
			}
		}
	}
	return settings
}
