package mcptools

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestNotesOfTools: the answer of a tool says in text and in its structure which changes no tool named.
func TestNotesOfTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	s := session.New(w.repo)
	if _, err := s.BeginStep(t.Context(), session.StepBegin{Session: "s", Message: "m", Role: session.RoleUser, Step: "1", Paths: []string{"a"}, Meta: map[string]string{session.MetaTool: "Edit"}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte("2\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.EndStep(t.Context(), session.StepEnd{Session: "s", Step: "1"}); err != nil {
		t.Fatal(err)
	}
	var out outcome
	const want = "so they may be yours, and went along: b"
	wantText(t, "session_undo", w.call("session_undo", map[string]any{}, &out), want)
	if len(out.Notes) != 1 {
		t.Errorf("%q", out.Notes)
	}
}
