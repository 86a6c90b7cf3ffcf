package setup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

func TestWithoutFile(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		p, home := places(t)
		opt := Options{Places: p, Program: program}
		if plan := apply(t, a.Name, opt); len(plan.Changes) == 0 {
			t.Errorf("%s: nothing done", a.Name)
		}
		if again := apply(t, a.Name, opt); len(again.Changes) != 0 {
			t.Errorf("%s: second run: %+v", a.Name, again.Changes)
		}
		opt.Remove = true
		apply(t, a.Name, opt)
		filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				t.Errorf("%s: left %s", a.Name, path)
			}
			return err
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"malformed": "{\n  \"model\": \n}\n", "array": "[]\n", "text": "hello", "cut off": "{\"hooks\": {", "utf16": "\xff\xfe{\x00}\x00",
		"hooks is a list": `{"hooks": []}`, "event is an object": `{"hooks": {"PreToolUse": {}, "BeforeTool": {}}}`,
	} {
		for _, remove := range []bool{false, true} {
			p, home := places(t)
			path := filepath.Join(home, "claude", "settings.json")
			write(t, path, content)
			_, err := New("claude-code", Options{Places: p, Program: program, Remove: remove})
			if strings.HasPrefix(content, `{"hooks": [`) && remove || strings.Contains(content, "PreToolUse") && remove {
				if err != nil {
					t.Errorf("%s: nothing to remove, but %v", name, err)
				}
			} else if !errors.Is(err, errForm) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", name, err)
			}
			if got := contents(t, path); got != content {
				t.Errorf("%s: changed to %q", name, got)
			}
		}
	}
}

// TestReadOnly: a file that may not be written is shown, and nothing is done, to the other files neither.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	p, home := places(t)
	path := filepath.Join(home, "claude", "settings.json")
	write(t, path, "{}")
	readOnly := func() {
		t.Helper()
		if err := os.Chmod(path, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	readOnly()
	opt := Options{Places: p, Program: program}
	refused := func() {
		t.Helper()
		before := contents(t, path)
		plan, err := New(known.Claude, opt)
		if err != nil || len(plan.Changes) == 0 {
			t.Fatalf("%+v, %v", plan, err)
		}
		var out bytes.Buffer
		if err := plan.Diff(&out); err != nil || !strings.Contains(out.String(), path) {
			t.Errorf("%v in %s", err, &out)
		}
		if err := plan.Apply(); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), path+" is read-only") {
			t.Errorf("%v", err)
		}
		if contents(t, path) != before {
			t.Error("the file was changed")
		}
	}
	refused()
	if left := below(t, home, "claude/settings.json"); len(left) > 0 {
		t.Errorf("made %q", left)
	}
	opt.Remove = true
	if plan := apply(t, known.Claude, opt); len(plan.Changes) > 0 {
		t.Errorf("nothing is to be removed, but %+v", plan.Changes)
	}

	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	opt.Remove = false
	apply(t, known.Claude, opt)
	readOnly()
	apply(t, known.Claude, opt)
	opt.Remove = true
	refused()
}

func TestSymlinkAndModeStay(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege on Windows")
	}
	p, home := places(t)
	real, path := filepath.Join(home, "dotfiles", "claude.json"), filepath.Join(home, "claude", "settings.json")
	write(t, real, "{}\n")
	if err := os.Chmod(real, 0o640); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, path); err != nil {
		t.Fatal(err)
	}
	apply(t, "claude-code", Options{Places: p, Program: program})
	if target, err := os.Readlink(path); err != nil || target != real {
		t.Errorf("link is %q, %v", target, err)
	}
	info, err := os.Stat(real)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if !strings.Contains(contents(t, real), "hook claude-code") {
		t.Error("not written behind the link")
	}
	apply(t, "claude-code", Options{Places: p, Program: program, Remove: true})
	if got := contents(t, real); got != "{}\n" {
		t.Errorf("%q", got)
	}

	dangling := filepath.Join(home, "codex", "hooks.json")
	if err := os.MkdirAll(filepath.Dir(dangling), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(home, "nowhere"), dangling); err != nil {
		t.Fatal(err)
	}
	if _, err := New("codex", Options{Places: p, Program: program}); err == nil {
		t.Error("a symlink that leads nowhere is followed")
	}
}

// TestBackupIsFromBeforeTheFirstEdit: later runs do not replace it.
func TestBackupIsFromBeforeTheFirstEdit(t *testing.T) {
	t.Parallel()
	p, home := places(t)
	path := filepath.Join(home, "claude", "settings.json")
	write(t, path, `{"a":1}`)
	opt := Options{Places: p, Program: program}
	apply(t, "claude-code", opt)
	write(t, path, strings.Replace(contents(t, path), "SubagentStop", "Other", 1))
	apply(t, "claude-code", opt)
	if got := contents(t, path+backupSuffix); got != `{"a":1}` {
		t.Errorf("%q", got)
	}
}

func TestForeignFileStays(t *testing.T) {
	t.Parallel()
	p, home := places(t)
	path := filepath.Join(home, "pi", "extensions", "cairn.ts")
	write(t, path, "// mine\n")
	if _, err := New("pi", Options{Places: p, Program: program}); !errors.Is(err, ErrForeign) {
		t.Errorf("%v", err)
	}
	if plan := apply(t, "pi", Options{Places: p, Program: program, Remove: true}); len(plan.Changes) != 0 {
		t.Errorf("%+v", plan.Changes)
	}
	if got := contents(t, path); got != "// mine\n" {
		t.Errorf("%q", got)
	}
}

// TestEditedFileIsKept: an adapter that the user has changed is not lost by an update.
func TestEditedFileIsKept(t *testing.T) {
	t.Parallel()
	p, home := places(t)
	path := filepath.Join(home, "pi", "extensions", "cairn.ts")
	opt := Options{Places: p, Program: program}
	apply(t, "pi", opt)
	if got := programIn(contents(t, path), "pi"); len(got) != 1 || got[0] != program[0] {
		t.Errorf("program is %q", got)
	}
	edited := contents(t, path) + "// mine\n"
	write(t, path, edited)
	apply(t, "pi", opt)
	if got := contents(t, path+backupSuffix); got != edited {
		t.Errorf("%q", got)
	}
}

func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	p, home := places(t)
	path := filepath.Join(home, "claude", "settings.json")
	write(t, path, "{}")
	plan, err := New("claude-code", Options{Places: p, Program: program})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, `{"new": 1}`)
	if err := plan.Apply(); err == nil || contents(t, path) != `{"new": 1}` {
		t.Errorf("%v, %s", err, contents(t, path))
	}
}

func TestProject(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		p, home := places(t)
		p.Project = filepath.Join(home, "project")
		plan := apply(t, a.Name, Options{Places: p, Program: program})
		for _, c := range plan.Changes {
			if !strings.HasPrefix(c.Path, filepath.Join(p.Project, filepath.FromSlash(a.Local))+string(filepath.Separator)) {
				t.Errorf("%s: %s", a.Name, c.Path)
			}
		}
	}
	if _, err := New("claude-code", Options{Program: program}); err == nil {
		t.Error("no place is known, and no error")
	}
	if _, err := New("vim", Options{Program: program}); err == nil || !strings.Contains(err.Error(), "gemini") {
		t.Errorf("%v", err)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	p, home := places(t)
	write(t, filepath.Join(home, "codex", "hooks.json"), "{}\n")
	plan, err := New("codex", Options{Places: p, Program: program})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := plan.Diff(&out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "-{}\n") || !strings.Contains(text, `+            "command": "'/opt/my tools/cairn' hook codex"`) {
		t.Errorf("%s", text)
	}
}

func TestCommandLines(t *testing.T) {
	t.Parallel()
	for _, program := range [][]string{
		{"/usr/bin/cairn"}, {"/opt/my tools/cairn"}, {"/it's/cairn"}, {`C:\Program Files\cairn\cairn.exe`}, {"/ünï/$HOME/cairn"},
		{"/usr/bin/cairn", "--data-dir", "/my data"}, {`/a\b/cairn`}, {"/`x`/cairn-dev"},
	} {
		line := commandLine(program, "codex")
		got := ours(line, "codex")
		if strings.Join(got, "\x00") != strings.Join(program, "\x00") {
			t.Errorf("%q became %s and then %q", program, line, got)
		}
		if ours(line, "gemini") != nil {
			t.Errorf("%s belongs to another agent", line)
		}
	}
	for _, line := range []string{
		"", "cairn", "hook codex", "entire hook codex", "/usr/bin/guard hook codex", "cairn hook codex; rm -rf x", "cairn 'hook codex", "cairn track",
		"/home/cairn/bin/other hook codex", "cairn hook codex && true", "$(cairn) hook codex", "cairn hook codex\\",
	} {
		if got := ours(line, "codex"); got != nil {
			t.Errorf("%q is taken for %q", line, got)
		}
	}
}

// TestWindowsCommandLines: sh, cmd.exe and PowerShell all run a path with slashes and without quotes. One
// that needs quotes cannot suit PowerShell and the others at once.
func TestWindowsCommandLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		program []string
		agent   string
		want    string
	}{
		{[]string{`C:\Users\me\go\bin\cairn.exe`}, "claude-code", `C:/Users/me/go/bin/cairn.exe hook claude-code`},
		{[]string{`C:\Users\me\go\bin\cairn.exe`}, "gemini", `C:/Users/me/go/bin/cairn.exe hook gemini`},
		{[]string{`d:\cairn.exe`, "--data-dir", `D:\`}, "codex", `d:/cairn.exe --data-dir D:/ hook codex`},
		{[]string{`C:\cairn.exe`, "--data-dir", `D:\my data`}, "codex", `C:/cairn.exe --data-dir "D:\my data" hook codex`},
		{[]string{`C:\Program Files\cairn.exe`}, "claude-code", `"C:\Program Files\cairn.exe" hook claude-code`},
		{[]string{`C:\Program Files\cairn.exe`}, "gemini", `& "C:\Program Files\cairn.exe" hook gemini`},
		{[]string{`C:\Program Files\cairn.exe`}, "cursor", `& "C:\Program Files\cairn.exe" hook cursor`},
		{[]string{`C:\O'Neil\cairn.exe`}, "codex", `& "C:\O'Neil\cairn.exe" hook codex`},
		{[]string{`C:\a%b%\cairn.exe`}, "codex", `& "C:\a%b%\cairn.exe" hook codex`},
		{[]string{`C:\a,b;c=d\cairn.exe`}, "codex", `& "C:\a,b;c=d\cairn.exe" hook codex`},
		{[]string{`C:\(x86)&\cairn.exe`}, "qwen", `"C:\(x86)&\cairn.exe" hook qwen`},
		{[]string{`C:\Jürgen\cairn.exe`}, "gemini", `& "C:\Jürgen\cairn.exe" hook gemini`},
		{[]string{`C:\a$b\cairn.exe`}, "gemini", `& 'C:\a$b\cairn.exe' hook gemini`},
		{[]string{`\\host\share\cairn.exe`}, "codex", `& "//host/share/cairn.exe" hook codex`},
		{[]string{`\\host\my share\cairn.exe`}, "gemini", `& "//host/my share/cairn.exe" hook gemini`},
		{[]string{`C:\cairn.exe`, "--data-dir", `D:\my data\`}, "codex", `C:/cairn.exe --data-dir "D:/my data/" hook codex`},
		{[]string{`/a\\b/cairn`}, "codex", `'/a\\b/cairn' hook codex`},
		{[]string{`/a\b/cairn`}, "gemini", `"/a\b/cairn" hook gemini`},
	} {
		line := commandLine(tt.program, tt.agent)
		if line != tt.want {
			t.Errorf("%q for %s: %s, want %s", tt.program, tt.agent, line, tt.want)
		}
		slashes := strings.NewReplacer(`\`, "/").Replace
		if sh, err := exec.LookPath("sh"); err == nil && runtime.GOOS != "windows" {
			out, err := exec.Command(sh, "-c", `printf '%s\n' `+strings.TrimPrefix(line, called)).Output()
			if want := strings.Join(tt.program, "\n") + "\nhook\n" + tt.agent + "\n"; err != nil || slashes(string(out)) != slashes(want) {
				t.Errorf("sh reads %q of %s, %v", out, line, err)
			}
		}
		got := ours(line, tt.agent)
		for i, word := range tt.program {
			if len(got) != len(tt.program) || slashes(got[i]) != slashes(word) {
				t.Errorf("%s is read as %q", line, got)
				break
			}
		}
	}
}
