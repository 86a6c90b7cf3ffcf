package hooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestToolPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct{ tool, input, want string }{
		{"Write", `{"file_path":"a","content":"x"}`, "a"},
		{"MultiEdit", `{"file_path":"a","edits":[{"old_string":"x"}]}`, "a"},
		{"multiedit", `{"edits":[{"file_path":"b"},{"filePath":"a"},{"path":"b"}]}`, "a b"},
		{"NotebookEdit", `{"notebook_path":"n.ipynb"}`, "n.ipynb"},
		{"replace", `{"file_path":"sub/../a"}`, "a"},
		{"apply_patch", `{"command":"*** Begin Patch\n*** Add File: a b\n+x\n*** Update File: c\r\n*** Move to: d\n*** Delete File: e\n*** End Patch"}`, "a b c d e"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Move File: a -> b\n*** End Patch"}`, "a b"},
		{"apply_patch", `"*** Begin Patch\n*** Add File: a\n*** End Patch"`, "a"},
		{"apply_patch", `{"command":"*** Add File: a"}`, ""},
		{"mcp__fs__move_file", `{"source":"a","destination":"b"}`, "a b"},
		{"mcp__write__search", `{"path":"a"}`, ""},
		{"Bash", `{"command":"rm a","path":"a"}`, ""},
		{"Grep", `{"path":"a"}`, ""},
		{"Write", `{"file_path":"."}`, ""},
		{"Write", `{"file_path":"/"}`, ""},
		{"Write", `{"file_path":""}`, ""},
		{"Write", `{"file_path":7,"path":["a"]}`, ""},
		{"Write", `[]`, ""},
		{"Write", ``, ""},
		{"Write", `{"file_path":"nul\u0000"}`, ""},
	} {
		var got []string
		for _, path := range toolPaths(dir, c.tool, json.RawMessage(c.input)) {
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %s names %q, not %q", c.tool, c.input, got, c.want)
		}
	}
}

func TestV49_ParseCommand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]request{
		"cairn undo": {verb: "undo", count: 1}, "CAIRN Redo": {verb: "redo", count: 1}, "cairn  undo\t3": {verb: "undo", count: 3, numbered: true},
		"/cairn-undo": {verb: "undo", count: 1}, "/cairn-diff 2": {verb: "diff", count: 2, numbered: true}, "cairn log": {verb: "log", count: 1},
		"cairn help": {verb: "help", count: 1}, "cairn": {verb: "help", count: 1}, "cairn --help": {verb: "help", count: 1},
		"cairn undo --help": {verb: "help", count: 1}, "cairn status": {verb: "status", count: 1},
		"cairn undo --dry-run": {verb: "undo", count: 1, dryRun: true}, "cairn undo 2 --dry-run": {verb: "undo", count: 2, dryRun: true, numbered: true},
	} {
		if got := parseCommand(text); got == nil || *got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for text, want := range map[string]string{
		"cairn redoo": "did you mean cairn redo?", "cairn udno": "did you mean cairn undo?", "cairn undo.": "did you mean cairn undo?",
		"cairn restroe": "did you mean cairn restore?", "cairn undoo the last one": "did you mean cairn undo?", "cairn xyzzy": "there is no cairn xyzzy",
		"cairn undo please": "cairn undo [N]", "cairn undo 0": "does not take", "cairn undo -1": "does not take", "cairn undo +1": "does not take",
		"cairn undo 1.5": "does not take", "cairn undo 1 2": "does not take", "cairn undo 99999999999999999999": "does not take",
		"cairn restore @": "typed in a shell", "cairn revert": "typed in a shell", "cairn diff --stat": "does not take", "cairn redo --plan 7": "does not take",
	} {
		if got := parseCommand(text); got == nil || got.verb != "refuse" || !strings.Contains(got.answer, want) {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for _, text := range []string{
		"", "undo", "please cairn undo", "cairn\nundo", "cairn-undo", "/cairn", "/cairn-", "/cairn undo", "`cairn undo`",
		"cairn is slow here, why?", "cairn does not find my file", "cairn undo\nand then build", "cairn's tests fail", "cairn logs too much in ci", "cairn: explain",
	} {
		if got := parseCommand(text); got != nil {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}

// TestR12_IgnoredFileThatAToolNames: an edit tool may change a file that is captured
// nowhere else. Its old contents come back.
func TestR12_IgnoredFileThatAToolNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, gittest.Tree{".gitignore": gittest.File(".env\n*.log\n"), ".env": gittest.File("KEY=old\n"), "x.log": gittest.File("log\n")})
	before := w.manifest()
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Edit", "c1", map[string]string{"file_path": w.path(".env"), "old_string": "old", "new_string": "new"})
	w.edit(".env", "old", "new")
	w.tell("PostToolBatch", "s", nil)
	w.use("PreToolUse", "s", "Write", "c2", map[string]string{"file_path": w.path("new.log")})
	w.write("new.log", "x\n")
	w.tell("Stop", "s", nil)
	w.history("s", []step{{".env", ".env"}, {"new.log", "new.log"}})
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestPathsOutsideTheRoot: a tool may name any path. It is no hint, and no obstacle.
func TestPathsOutsideTheRoot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	before := w.manifest()
	outside := filepath.Join(t.TempDir(), "outside")
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Write", "c1", map[string]string{"file_path": outside})
	w.use("PreToolUse", "s", "Write", "c2", map[string]string{"file_path": "../../../etc/passwd"})
	w.use("PreToolUse", "s", "Write", "c3", map[string]string{"file_path": filepath.Join(w.root, ".git", "config")})
	w.use("PreToolUse", "s", "Write", "c4", map[string]string{"file_path": "a/b/c"})
	w.write("new", "x\n")
	for _, call := range []string{"c1", "c2", "c3", "c4"} {
		w.use("PostToolUse", "s", "Write", call, map[string]string{"file_path": outside})
	}
	if got := w.prompted("s", "cairn undo"); !strings.Contains(got, "1 deleted") {
		t.Errorf("undo said %q", got)
	}
	w.isAs(before, "after undo")
	w.noFailures()
	if _, err := os.Stat(outside); err == nil {
		t.Error("something was made outside")
	}
}

// TestPathsCountFromTheWorkingDirectory: an agent started below the root names paths
// from where it is.
func TestPathsCountFromTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, gittest.Tree{"sub/a": gittest.File("a\n")})
	e, err := decode(Codex, []byte(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":`+encoded(w.path("sub"))+`,"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a\n*** End Patch"}}`))
	if err != nil || len(e.paths) != 1 || e.paths[0] != w.path("sub/a") {
		t.Errorf("%+v, %v", e, err)
	}
}

func encoded(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// V21: an ignored file that a tool names is saved before the tool writes, whatever its size
// up to the limit of a file.
func TestV21_LargeIgnoredFilesAreSaved(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("before\n", 300_000) // 2.1 MB
	w := newWorld(t, Codex, gittest.Tree{".gitignore": gittest.File("build/\n"), "build/out": gittest.File(large)})
	before := w.manifest()
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Write", "c1", map[string]string{"file_path": w.path("build/out")})
	w.write("build/out", "after\n")
	w.use("PostToolUse", "s", "Write", "c1", map[string]string{"file_path": w.path("build/out")})
	if got := w.prompted("s", "cairn undo"); !strings.Contains(got, "1 restored") {
		t.Errorf("undo said %q", got)
	}
	w.isAs(before, "after undo")
	w.noFailures()
}
