package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/session"
)

// worlds are projects side by side, with one store directory.
type worlds struct {
	*testing.T
	agent   string
	project string // the agent's own word for it, "" for none
	roots   []string
	data    string
	opt     Options // further ones
	asked   int     // prompts
}

func newWorlds(t *testing.T, agent string, names ...string) *worlds {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &worlds{T: t, agent: agent, data: filepath.Join(dir, "data")}
	for _, name := range names {
		root := filepath.Join(dir, name)
		gittest.Create(t, root, gittest.Tree{"file": gittest.File("0\n"), "sub": gittest.Dir()})
		w.roots = append(w.roots, root)
	}
	return w
}

func (w *worlds) open(_ context.Context, dir string) (*Project, error) {
	root := w.rootOf(dir)
	repo, err := cairn.Open(cairn.Options{Root: root, DataDir: w.data, NoSync: true})
	if err != nil {
		return nil, err
	}
	return &Project{
		Root: repo.Root(), Sessions: session.New(repo), Close: repo.Close, LeavesOut: leavesOut(repo),
		RootOf: func(dir string) (string, error) { return w.rootOf(dir), nil },
	}, nil
}

func (w *worlds) rootOf(dir string) string {
	for _, root := range w.roots {
		if realpath.Within(dir, root) {
			return root
		}
	}
	return dir
}

// send is one call of the hook.
func (w *worlds) send(fields map[string]any) string {
	w.Helper()
	if _, ok := fields["session_id"]; !ok {
		fields["session_id"], fields["session"] = "s", "s"
	}
	payload, err := json.Marshal(fields)
	if err != nil {
		w.Fatal(err)
	}
	var out bytes.Buffer
	opt := w.opt
	opt.Dir, opt.Project, opt.Open = filepath.Join(w.data, "hooks"), w.project, w.open
	Handle(w.Context(), w.agent, strings.NewReader(string(payload)), &out, opt)
	return out.String()
}

func (w *worlds) tell(dir, name string, fields map[string]any) string {
	w.Helper()
	all := map[string]any{"hook_event_name": name, "cwd": dir}
	for key, value := range fields {
		all[key] = value
	}
	return w.send(all)
}

// tool is a call of a shell in a directory.
func (w *worlds) tool(dir, call string, do func()) {
	w.Helper()
	fields := map[string]any{"tool_name": "Bash", "tool_use_id": call, "tool_input": map[string]string{"command": "x"}}
	before, after := "PreToolUse", "PostToolUse"
	if w.agent == Gemini {
		before, after = "BeforeTool", "AfterTool"
	}
	w.tell(dir, before, fields)
	do()
	if w.agent == Claude {
		after, fields = "PostToolBatch", map[string]any{"tool_calls": []any{fields}}
	}
	w.tell(dir, after, fields)
}

func (w *worlds) write(root int, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.roots[root], "file"), []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

func (w *worlds) files(want ...string) {
	w.Helper()
	for i, root := range w.roots {
		if data, err := os.ReadFile(filepath.Join(root, "file")); err != nil || string(data) != want[i] {
			w.Errorf("%s has %q, want %q: %v", filepath.Base(root), data, want[i], err)
		}
	}
}

// list returns the sessions in a root.
func (w *worlds) list(root int) []*session.Session {
	w.Helper()
	p, err := w.open(w.Context(), w.roots[root])
	if err != nil {
		w.Fatal(err)
	}
	defer p.Close()
	list, err := p.Sessions.(*session.Sessions).List(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return list
}

// TestAgentChangesIntoAnotherProject: the session stays one, and a typed undo takes back what the turn
// did in both projects, wherever it is typed.
func TestAgentChangesIntoAnotherProject(t *testing.T) {
	t.Parallel()
	for name, agent := range map[string]string{"project named": Claude, "project remembered": Codex} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorlds(t, agent, "a", "b")
			if agent == Claude {
				w.project = w.roots[0]
			}
			a, b := w.roots[0], filepath.Join(w.roots[1], "sub")
			w.tell(a, "SessionStart", map[string]any{"source": "startup"})
			w.tell(a, "UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "1", "turn_id": "1"})
			w.tool(a, "c1", func() { w.write(0, "1\n") })
			w.tool(b, "c2", func() { w.write(0, "2\n"); w.write(1, "2\n") })
			w.tell(b, "Stop", nil)
			w.files("2\n", "2\n")
			for i, root := range w.roots {
				list := w.list(i)
				if len(list) != 1 || list[0].ID != "s" || !slices.Equal(list[0].Further, []string{w.roots[1-i]}) {
					t.Fatalf("%s has the sessions %+v", root, list)
				}
			}
			out := w.tell(b, "UserPromptSubmit", map[string]any{"prompt": "cairn diff", "prompt_id": "2", "turn_id": "2"})
			if !strings.Contains(out, "2 files changed") || !strings.Contains(out, "changed  "+filepath.ToSlash(filepath.Join(w.roots[1], "file"))) {
				t.Errorf("diff said %s", out)
			}
			out = w.tell(b, "UserPromptSubmit", map[string]any{"prompt": "cairn undo", "prompt_id": "2", "turn_id": "2"})
			if !strings.Contains(out, "took back 1 turn: 2 restored") || !strings.Contains(out, filepath.ToSlash(filepath.Join(w.roots[1], "file"))) {
				t.Errorf("undo said %s", out)
			}
			w.files("0\n", "0\n")
			if out := w.tell(a, "UserPromptSubmit", map[string]any{"prompt": "cairn redo", "prompt_id": "3", "turn_id": "3"}); !strings.Contains(out, "brought back 1 turn: 2 restored") {
				t.Errorf("redo said %s", out)
			}
			w.files("2\n", "2\n")
		})
	}
}

// TestWorkspaceFolders: what agents name as further folders of a workspace are roots from the first
// prompt on.
func TestWorkspaceFolders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent  string
		events func(roots []string) (prompt, before, after map[string]any)
	}{
		"Cursor": {known.Cursor, func(roots []string) (prompt, before, after map[string]any) {
			fields := func(name string) map[string]any {
				return map[string]any{"hook_event_name": name, "conversation_id": "s", "generation_id": "g", "workspace_roots": roots, "prompt": "go", "tool_name": "Shell", "tool_use_id": "c"}
			}
			return fields("beforeSubmitPrompt"), fields("preToolUse"), fields("postToolUse")
		}},
		"Cline": {known.Cline, func(roots []string) (prompt, before, after map[string]any) {
			fields := func(name string) map[string]any {
				return map[string]any{
					"hookName": name, "taskId": "s", "workspaceRoots": roots, "timestamp": "1", "userPromptSubmit": map[string]string{"prompt": "go"},
					"preToolUse": map[string]string{"toolName": "execute_command"}, "postToolUse": map[string]string{"toolName": "execute_command"},
				}
			}
			return fields("UserPromptSubmit"), fields("PreToolUse"), fields("PostToolUse")
		}},
		"adapter": {OpenCode, func(roots []string) (prompt, before, after map[string]any) {
			fields := func(name string) map[string]any {
				return map[string]any{"event": name, "cwd": roots[0], "directories": roots[1:], "message": "m", "prompt": "go", "call": "c", "tool": "bash"}
			}
			return fields("prompt"), fields("before"), fields("after")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorlds(t, c.agent, "a", "b", "c")
			prompt, before, after := c.events(w.roots)
			w.send(prompt)
			w.send(before)
			w.write(1, "1\n")
			w.write(2, "1\n")
			w.send(after)
			s := w.list(0)
			if len(s) != 1 || !slices.Equal(s[0].Further, w.roots[1:]) {
				t.Fatalf("%+v", s)
			}
			p, err := w.open(t.Context(), w.roots[2])
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if _, res, err := p.Sessions.UndoTurn(t.Context(), "s", session.MoveOptions{}); err != nil || res.Directories() != 2 {
				t.Fatalf("%+v, %v", res, err)
			}
			w.files("0\n", "0\n", "0\n")
		})
	}
}

// TestFolderThatCannotBeARoot: the user is told once a prompt, and the project is recorded.
func TestFolderThatCannotBeARoot(t *testing.T) {
	t.Parallel()
	w := newWorlds(t, OpenCode, "a")
	gone, around := filepath.Join(filepath.Dir(w.roots[0]), "gone"), filepath.Dir(w.roots[0])
	event := func(name string) string {
		return w.send(map[string]any{"event": name, "cwd": w.roots[0], "directories": []string{gone, around}, "message": "m", "prompt": "go", "call": "c", "tool": "bash"})
	}
	for _, out := range []string{event("session"), event("prompt")} {
		if strings.Count(out, "cannot be taken back") != 2 || !strings.Contains(out, "lie within each other") {
			t.Errorf("said %s", out)
		}
	}
	event("before")
	w.write(0, "1\n")
	if out := event("after"); strings.Contains(out, "cannot be taken back") || !strings.Contains(out, `"ok":true`) {
		t.Errorf("said again: %s", out)
	}
	if out := w.send(map[string]any{"event": "undo", "cwd": w.roots[0]}); !strings.Contains(out, "1 restored") {
		t.Errorf("undo: %s", out)
	}
	w.files("0\n")
}

// TestWorkDir: the project is what the agent calls so, or where the session was heard of first, as long
// as it is there.
func TestWorkDir(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for _, dir := range []string{"p/x", "q", "r"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string {
		if name == "" || name == "relative" {
			return name
		}
		return filepath.Join(top, name)
	}
	for _, c := range []struct{ project, first, dir, want, further string }{
		{"", "", "p/x", "p/x", ""}, {"p", "", "p", "p", ""}, {"p", "", "p/x", "p", ""}, {"p", "", "q", "p", "q"},
		{"relative", "", "p/x", "p/x", ""}, {"gone", "", "q", "q", ""},
		{"", "p", "p/x", "p", ""}, {"", "p", "q", "p", "q"}, {"", "gone", "q", "q", ""}, {"q", "p", "q", "q", ""},
	} {
		state := t.TempDir()
		first := &hook{agent: Codex, event: &event{session: "s"}}
		if c.first != "" {
			if err := first.rememberHome(Options{Dir: state}, at(c.first)); err != nil {
				t.Fatal(err)
			}
		}
		h := &hook{agent: Codex, event: &event{session: "s/child", parent: "s", dir: at(c.dir)}}
		got := h.workDir(Options{Dir: state, Project: at(c.project)})
		further := fmt.Sprint(h.further)
		if want := fmt.Sprint([]string{at(c.further)}); got != at(c.want) || c.further != "" && further != want || c.further == "" && len(h.further) > 0 {
			t.Errorf("in %s, with the project %q, heard of first in %q: %s, further %s", c.dir, c.project, c.first, got, further)
		}
	}
}

// TestMovedProject: a session that begins again after its project was moved belongs to the new place. The store comes
// along with a directory that was renamed, and an undo takes back what was done before. For a copy it says where that
// is. A project that comes in the old place is another one.
func TestMovedProject(t *testing.T) {
	t.Parallel()
	for _, copied := range []bool{false, true} {
		t.Run(fmt.Sprintf("copied=%v", copied), func(t *testing.T) {
			t.Parallel()
			w := newWorlds(t, Codex, "old")
			old, now := w.roots[0], filepath.Join(filepath.Dir(w.roots[0]), "new")
			tell := func(name, dir string, more map[string]any) string {
				fields := map[string]any{"hook_event_name": name, "cwd": dir, "turn_id": "t"}
				maps.Copy(fields, more)
				return w.send(fields)
			}
			turn := func(id, dir string, work func()) {
				tell("UserPromptSubmit", dir, map[string]any{"prompt": "go", "turn_id": id})
				tell("PreToolUse", dir, map[string]any{"tool_name": "Bash", "tool_use_id": "c" + id, "turn_id": id})
				work()
				tell("PostToolUse", dir, map[string]any{"tool_name": "Bash", "tool_use_id": "c" + id, "turn_id": id})
				tell("Stop", dir, map[string]any{"turn_id": id})
			}
			if _, ok := identity.DirectoryAt(old); !ok && !copied {
				t.Skip("this file system does not know when a directory was made")
			}
			tell("SessionStart", old, nil)
			turn("1", old, func() { w.write(0, "1\n") })
			if copied {
				gittest.Create(t, now, gittest.Tree{"file": gittest.File("1\n"), "sub": gittest.Dir()})
				if err := os.RemoveAll(old); err != nil {
					t.Fatal(err)
				}
			} else if err := os.Rename(old, now); err != nil {
				t.Fatal(err)
			}
			w.roots[0] = now
			tell("SessionStart", now, nil)
			out := tell("UserPromptSubmit", now, map[string]any{"prompt": "cairn undo"})
			switch said := strings.Contains(out, "what it did in "+old); {
			case said != copied:
				t.Errorf("undo says %s", out)
			case copied:
				w.files("1\n")
			default:
				w.files("0\n")
				out := tell("UserPromptSubmit", now, map[string]any{"prompt": "cairn undo"})
				if strings.Contains(out, "what it did in "+old) {
					t.Errorf("nothing is in the old store, and undo says %s", out)
				}
			}
			gittest.Create(t, old, gittest.Tree{"file": gittest.File("0\n")})
			w.roots = append(w.roots, old)
			w.write(0, "0\n")
			turn("2", now, func() {
				w.write(0, "2\n")
				w.write(1, "2\n")
			})
			tell("UserPromptSubmit", now, map[string]any{"prompt": "cairn undo", "turn_id": "3"})
			w.files("0\n", "2\n")
			h := &hook{agent: Codex, event: &event{kind: sessionBegin, session: "s", dir: filepath.Join(old, "sub")}}
			if got := h.workDir(Options{Dir: filepath.Join(w.data, "hooks")}); got != old || len(h.further) > 0 {
				t.Errorf("back in the old place it works in %s and %q", got, h.further)
			}
		})
	}
}
