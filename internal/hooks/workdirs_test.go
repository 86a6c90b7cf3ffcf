package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// started says that the agent runs with a command line.
func (w *worlds) started(words ...string) {
	w.opt.Line = func() []process.Relative {
		return []process.Relative{{ID: process.ID{PID: 3}, Name: "sh"}, {ID: process.ID{PID: 2}, Name: "agent"}, {ID: process.ID{PID: 1}, Name: "systemd"}}
	}
	w.opt.Args = func(id process.ID) []string {
		return map[int][]string{3: {"sh", "-c", "cairn"}, 2: words, 1: {"claude", "--add-dir", "/"}}[id.PID]
	}
}

// asks is a prompt of the user.
func (w *worlds) asks(text string) string {
	w.Helper()
	event := "UserPromptSubmit"
	if w.agent == Gemini {
		event = "BeforeAgent"
	}
	w.asked++
	id := fmt.Sprintf("p-%d", w.asked)
	return w.tell(w.roots[0], event, map[string]any{"prompt": text, "prompt_id": id, "turn_id": id, "transcript_path": filepath.Join(w.data, "record")})
}

// file writes a file beside the stores.
func (w *worlds) file(name, text string) string {
	w.Helper()
	path := filepath.Join(w.data, name)
	if err := errors.Join(os.MkdirAll(w.data, 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		w.Fatal(err)
	}
	return path
}

// inOneTurn plays a turn that writes in both roots, and takes it back and again with one command.
func (w *worlds) inOneTurn() {
	w.Helper()
	w.tell(w.roots[0], "SessionStart", map[string]any{"source": "startup"})
	if out := w.asks("go"); strings.Contains(out, "cannot") {
		w.Errorf("the prompt printed %s", out)
	}
	w.tool(w.roots[0], "c1", func() { w.write(0, "1\n"); w.write(1, "1\n") })
	list := w.list(1)
	if len(list) != 1 || list[0].ID != "s" || !slices.Equal(list[0].Further, w.roots[:1]) {
		w.Fatalf("the other root has the sessions %+v", list)
	}
	if out := w.asks("cairn undo"); !strings.Contains(out, "took back 1 turn: 2 restored") {
		w.Errorf("undo said %s", out)
	}
	w.files("0\n", "0\n")
	if out := w.asks("cairn redo"); !strings.Contains(out, "brought back 1 turn: 2 restored") {
		w.Errorf("redo said %s", out)
	}
	w.files("1\n", "1\n")
}

// TestDirectoriesOfAnAgent: wherever an agent tells of a second directory, both are roots of one session from the
// first turn on, and one undo takes back what the turn did in both.
func TestDirectoriesOfAnAgent(t *testing.T) {
	t.Parallel()
	settings := func(text string) func(*worlds) {
		return func(w *worlds) {
			path := w.file("settings.json", text)
			w.opt.Settings = func(project string) []string { return []string{filepath.Join(project, "none"), path} }
		}
	}
	line := func(words ...string) func(*worlds) { return func(w *worlds) { w.started(words...) } }
	for name, c := range map[string]struct {
		agent string
		tell  func(*worlds)
	}{
		"Claude Code, option":   {Claude, line("claude", "-p", "--add-dir", "../b")},
		"Claude Code, settings": {Claude, settings(`{"permissions":{"additionalDirectories":["../b/sub"]}}`)},
		"Codex": {Codex, func(w *worlds) {
			w.file("record", `{"type":"session_meta","payload":{"runtime_workspace_roots":["`+filepath.ToSlash(w.roots[0])+`","`+filepath.ToSlash(w.roots[1])+`"]}}`)
		}},
		"Gemini CLI, option":   {Gemini, line("node", "/bin/gemini", "--include-directories", "../b,../gone")},
		"Gemini CLI, settings": {Gemini, settings("{// mine\n\"context\":{\"includeDirectories\":[\"../b\"]}}")},
		"Gemini CLI, editor": {Gemini, func(w *worlds) {
			w.opt.Env = func(name string) string {
				if name == "GEMINI_CLI_IDE_WORKSPACE_PATH" {
					return w.roots[0] + string(os.PathListSeparator) + w.roots[1]
				}
				return ""
			}
		}},
		"Qwen Code":   {Qwen, line("node", "/n/qwen-code/cli.js", "--include-directories", "../b")},
		"Copilot CLI": {known.Copilot, line("copilot", "--add-dir", "../b")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorlds(t, c.agent, "a", "b")
			c.tell(w)
			w.inOneTurn()
		})
	}
}

// TestDirectoryAdded: a directory that the user adds in the middle of a session, also while a tool runs, is a
// root from then on.
func TestDirectoryAdded(t *testing.T) {
	t.Parallel()
	w := newWorlds(t, Claude, "a", "b", "c")
	added := func(dir string) string {
		return w.tell(w.roots[0], "DirectoryAdded", map[string]any{"directory": dir, "source": "slash_command"})
	}
	w.tell(w.roots[0], "SessionStart", map[string]any{"source": "startup"})
	w.asks("one")
	w.tool(w.roots[0], "c1", func() { w.write(0, "1\n") })
	w.tell(w.roots[0], "Stop", nil)
	if out := added(w.roots[1]); out != "" {
		t.Errorf("printed %s", out)
	}
	w.asks("two")
	w.tool(w.roots[0], "c2", func() {
		w.write(1, "2\n")
		added(filepath.Join(w.roots[2], "sub"))
		w.write(2, "2\n")
	})
	w.tell(w.roots[0], "Stop", nil)
	if got := w.list(0)[0].Further; !slices.Equal(got, w.roots[1:]) {
		t.Fatalf("further roots %q", got)
	}
	if out := w.asks("cairn undo"); !strings.Contains(out, "took back 1 turn: 2 restored") {
		t.Errorf("undo said %s", out)
	}
	w.files("1\n", "0\n", "0\n")
	w.asks("cairn undo")
	w.files("0\n", "0\n", "0\n")
	w.asks("cairn redo 2")
	w.files("1\n", "2\n", "2\n")
}

// TestDirectoryThatComesLater: a directory that cannot be a root when the user adds it is named at once and with
// the next prompt, and is tried again then.
func TestDirectoryThatComesLater(t *testing.T) {
	t.Parallel()
	w := newWorlds(t, Claude, "a")
	later := filepath.Join(filepath.Dir(w.roots[0]), "later")
	w.tell(w.roots[0], "SessionStart", map[string]any{"source": "startup"})
	for _, out := range []string{
		w.tell(w.roots[0], "DirectoryAdded", map[string]any{"directory": later, "source": "slash_command"}), w.asks("one"),
	} {
		if strings.Count(out, "later cannot be taken back") != 1 {
			t.Errorf("said %q", out)
		}
	}
	gittest.Create(t, later, gittest.Tree{"file": gittest.File("0\n")})
	w.roots = append(w.roots, later)
	w.inOneTurn()
}

// TestDirectoryOfAll: a directory of all programs is no root, whether the user adds it or a tool changes into
// it. Of the latter the user is told. Nor is one of settings that the user adds.
func TestDirectoryOfAll(t *testing.T) {
	t.Parallel()
	w := newWorlds(t, Claude, "a", "b")
	w.opt.Home = filepath.Join(filepath.Dir(w.roots[0]), "home")
	config := filepath.Join(w.opt.Home, ".config", "x")
	gittest.Create(t, config, gittest.Tree{"file": gittest.File("0\n")})
	w.tell(w.roots[0], "SessionStart", map[string]any{"source": "startup"})
	w.asks("one")
	for _, dir := range []string{os.TempDir(), w.opt.Home, config} {
		if out := w.tell(w.roots[0], "DirectoryAdded", map[string]any{"directory": dir, "source": "slash_command"}); out != "" {
			t.Errorf("%s: printed %s", dir, out)
		}
	}
	if out := w.asks("two"); out != "" {
		t.Errorf("printed %s", out)
	}
	w.project = w.roots[0]
	w.tool(os.TempDir(), "c1", func() { w.write(0, "1\n") })
	if got := w.list(0)[0].Further; len(got) > 0 {
		t.Errorf("further roots %q", got)
	}
	if out := w.asks("three"); !strings.Contains(out, "cannot be taken back: it holds files of other programs, too") {
		t.Errorf("said %q", out)
	}
	if out := w.asks("four"); out != "" {
		t.Errorf("said again: %s", out)
	}
	w.asks("cairn undo")
	w.files("0\n", "0\n")
}

// TestInTime: a look at directories that does not end holds no call up, and neither does a faulty one.
func TestInTime(t *testing.T) {
	t.Parallel()
	if got := inTime(t.Context(), func() []string { return []string{"a"} }); len(got) != 1 {
		t.Errorf("found %q", got)
	}
	if got := inTime(t.Context(), func() []string { panic("x") }); got != nil {
		t.Errorf("after a panic: %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan struct{})
	defer close(end)
	if got := inTime(ctx, func() []string { cancel(); <-end; return []string{"a"} }); got != nil {
		t.Errorf("found %q", got)
	}
}

// TestDirectoriesWithoutASession: an agent that names nothing gets no further roots, and the directories of a
// process above the agent are not its own.
func TestDirectoriesWithoutASession(t *testing.T) {
	t.Parallel()
	for name, words := range map[string][]string{"none": {"claude", "-p"}, "project": {"claude", "--add-dir", ".", "sub"}, "above": {"claude", "--add-dir", "/", os.TempDir()}, "unseen": nil} {
		w := newWorlds(t, Claude, "a", "b")
		w.started(words...)
		w.tell(w.roots[0], "SessionStart", map[string]any{"source": "startup"})
		if out := w.asks("one"); out != "" {
			t.Errorf("%s: printed %s", name, out)
		}
		w.tool(w.roots[0], "c1", func() { w.write(0, "1\n"); w.write(1, "1\n") })
		if got := w.list(0)[0].Further; len(got) > 0 {
			t.Errorf("%s: further roots %q", name, got)
		}
		w.asks("cairn undo")
		w.files("0\n", "1\n")
	}
}
