package hooks

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
)

// TestLeftOut: what a shell does in a repository below an ignored directory of the project is in no checkpoint. The end of
// the turn and the undo say so. A repository that is not ignored is a part of the project.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	for place, left := range map[string]bool{"ignored/repo": true, "held/repo": false} {
		w := newWorlds(t, Codex, "project/"+place, "project")
		repo, project := w.roots[0], w.roots[1]
		if err := os.WriteFile(filepath.Join(project, ".gitignore"), []byte("/ignored\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		tool := func(dir, call string, input any, work func()) {
			e := map[string]any{"hook_event_name": "PreToolUse", "cwd": dir, "turn_id": "1", "tool_name": "Bash", "tool_use_id": call, "tool_input": input}
			w.send(e)
			work()
			e["hook_event_name"] = "PostToolUse"
			w.send(e)
		}
		put := func(dir string) func() {
			return func() {
				if err := os.WriteFile(filepath.Join(dir, "file"), []byte("1\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.send(map[string]any{"hook_event_name": "UserPromptSubmit", "cwd": project, "turn_id": "1", "prompt": "go"})
		tool(project, "c1", nil, put(project))
		tool(filepath.Join(project, "sub"), "c2", nil, func() {})
		for _, call := range []string{"c3", "c4"} {
			tool(repo, call, map[string]string{"command": "make it"}, put(repo))
		}
		said := w.send(map[string]any{"hook_event_name": "Stop", "cwd": repo, "turn_id": "1"})
		undone := w.send(map[string]any{"hook_event_name": "UserPromptSubmit", "cwd": repo, "turn_id": "2", "prompt": "cairn undo"})
		for what, out := range map[string]string{"the end": said, "the undo": undone} {
			if tells := strings.Contains(out, "2 steps of this session could not be captured") && strings.Contains(out, "the project ignores it"); tells != left {
				t.Errorf("%s: %s says %q", place, what, out)
			}
		}
		if is, err := os.ReadFile(filepath.Join(project, "file")); err != nil || string(is) != "0\n" {
			t.Errorf("%s: the project's file is %q, %v", place, is, err)
		}
	}
}

// leavesOut asks the captures of a root.
func leavesOut(repo *cairn.Repo) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, dir string) (bool, error) { return access.Lines(repo).LeavesOut(ctx, dir) }
}
