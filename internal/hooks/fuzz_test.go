package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzDecode: whatever agents and adapters send, it is understood or refused.
func FuzzDecode(f *testing.F) {
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") {
			rel, _ := filepath.Rel("testdata", path)
			for _, r := range transcript(f, filepath.ToSlash(rel)) {
				f.Add(agentOf(path), []byte(r.Payload))
			}
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, payload := range []string{
		`{"event":"before","session":"s","cwd":"/p","call":"c","tool":"mcp__fs__write","input":{"path":"a","edits":[{"file_path":"b"}]}}`,
		`{"event":"undo","session":"s","cwd":"/p","count":-3}`,
		`{"event":"before","session":"s","cwd":"/p","tool":"apply_patch","input":"*** Begin Patch\n*** Move File: a -> b\n*** End Patch"}`,
	} {
		f.Add("opencode", []byte(payload))
	}
	f.Fuzz(func(t *testing.T, agent string, payload []byte) {
		e, err := decode(Agent(agent), payload)
		if err != nil {
			if e != nil || !errors.Is(err, errPayload) {
				t.Fatalf("%v, %v", e, err)
			}
			return
		}
		if e.kind != noise && (e.session == "" || len(e.session) > 1024 || !filepath.IsAbs(e.dir)) {
			t.Fatalf("%+v", e)
		}
		if e.said && e.kind != command {
			t.Fatalf("%+v", e)
		}
		for _, path := range e.paths {
			if e.kind != command && speaks(Agent(agent)) && !usablePath(path) {
				t.Fatalf("path %q", path)
			}
		}
		var out bytes.Buffer
		Handle(t.Context(), agent, bytes.NewReader(payload), &out, Options{Dir: t.TempDir(), Open: func(context.Context, string) (*Project, error) {
			return nil, os.ErrNotExist
		}})
		if out.Len() > 0 && !json.Valid(out.Bytes()) {
			t.Fatalf("printed %q", out.Bytes())
		}
	})
}

// FuzzToolPaths: whatever a tool of a payload has among its words, the paths that are looked at and saved are
// whole, bounded in number, and none lies in a .git of the root or is a directory above it.
func FuzzToolPaths(f *testing.F) {
	for _, command := range []string{
		"cp a ../b && echo x > /tmp/x", "cd ../lib; rm -rf * d/*.go", `echo "a\"b" 'c d' > ~/.ssh/config`, "sed -i s/a/b/ ../f", "tee < x >| ../y &> z",
		"dd if=a of=../b", "sudo env A=b mv a .git/x ../c", "rm [ ../[a", "cd /; touch etc/x proc/self/y ..", "$(x) `y` ${z}/a > \"$HOME/b\"", "# rm a\nrm b", "\\", "'", "\"", "a\x00b > c", "> ", "cd", "\xff > \xfe",
		strings.Repeat("rm ../a ", 600),
	} {
		input, _ := json.Marshal(map[string]any{"command": command})
		f.Add("Bash", input)
	}
	for tool, input := range map[string]string{
		"Write": `{"file_path":"../../x","content":"y"}`, "MultiEdit": `{"edits":[{"file_path":"/a/.ssh/id"}],"path":"."}`, "apply_patch": `"*** Begin Patch\n*** Move File: ../a -> /b\n*** End Patch"`,
		"shell": `{"command":["bash","-lc","rm ../x"]}`, "exec": `{"commands":["rm ../x","cd ..","> y"]}`, "Edit": `{"file_path":"a\u0000b"}`, "edit": `[]`, "": `x`,
	} {
		f.Add(tool, []byte(input))
	}
	top := f.TempDir()
	root := filepath.Join(top, "project")
	if err := os.MkdirAll(filepath.Join(root, "d"), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, tool string, input []byte) {
		shell := shellCommand(tool, input)
		if n := len(shellWords(shell)); n > maxShellWords {
			t.Fatalf("%d words", n)
		}
		h := &hook{root: root, home: filepath.Join(top, "home"), event: &event{dir: root, tool: tool, shell: shell, paths: toolPaths(root, tool, input)}}
		for _, m := range mentions(h.dir, h.home, h.shell) {
			if !filepath.IsAbs(m.path) {
				t.Fatalf("a command names %q", m.path)
			}
			place := h.placeOf(m.path)
			if place == "." || strings.HasPrefix(place, "../") || place == ".git" || strings.HasPrefix(place, ".git/") || place == top || place == "/" {
				t.Fatalf("%q is looked at as %q", m.path, place)
			}
		}
		for _, path := range h.targets() {
			if !usablePath(path) {
				t.Fatalf("%q is saved", path)
			}
		}
		var w work
		h.see(&w)
		if len(w.Seen) > maxSeen {
			t.Fatalf("%d paths are looked at", len(w.Seen))
		}
	})
}

func agentOf(path string) string {
	agent := filepath.Base(filepath.Dir(path))
	return Agent(agent)
}
