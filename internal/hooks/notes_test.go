package hooks

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/service"
)

// TestNotesOfAnUndo: the answer to a typed undo says which changes may be the user's, and how many steps
// are missing, each once.
func TestNotesOfAnUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	w.prompt("s", "1", "go")
	fail := Options{Dir: filepath.Join(w.data, "hooks"), Open: func(ctx context.Context, dir string) (*Project, error) {
		p, err := w.open(ctx, dir)
		if err == nil {
			all := p.Sessions
			p.Sessions = service.Through(func(ctx context.Context, r service.Request, next service.Next) (any, error) {
				if r.Kind == service.RequestBeginStep {
					return nil, errors.New("no luck")
				}
				return next(ctx, all)
			})
		}
		return p, err
	}}
	Handle(t.Context(), Codex, strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"`+filepath.ToSlash(w.root)+`","tool_name":"Bash","tool_use_id":"c0"}`), io.Discard, fail)
	patch := map[string]string{"command": "*** Begin Patch\n*** Update File: a\n@@\n-a\n+x\n*** End Patch"}
	w.use("PreToolUse", "s", "apply_patch", "c1", patch)
	w.write("a", "x\n")
	w.write("b", "mine\n")
	w.use("PostToolUse", "s", "apply_patch", "c1", patch)
	w.tell("Stop", "s", nil)
	for _, typed := range []string{"cairn undo --dry-run", "cairn undo"} {
		got := w.prompted("s", typed)
		for _, want := range []string{"so they may be yours, and went along: b", "1 step of this session could not be captured and cannot be taken back"} {
			if strings.Count(got, want) != 1 {
				t.Errorf("%s: not once %q:\n%s", typed, want, got)
			}
		}
	}
}
