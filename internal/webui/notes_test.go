package webui

import (
	"net/http"
	"testing"

	"github.com/seed-fb9cbc17/cairn/session"
)

// TestNotesOnThePage: a plan says which of its changes no tool named.
func TestNotesOnThePage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("named", "1\n")
	f.write("unnamed", "1\n")
	f.stepOf(session.StepBegin{Session: "edits", Message: "e1", Step: "e", Prompt: "edit", Paths: []string{"named"}, Meta: map[string]string{session.MetaTool: "Edit"}}, func() {
		f.write("named", "2\n")
		f.write("unnamed", "2\n")
	})
	f.get(f.at("plan", "do", "session", "session", "edits", "message", "e1")).want(http.StatusOK, "so they may be yours, and went along: unnamed")
}
