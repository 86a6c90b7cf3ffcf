package httpapi

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestNotesOverHTTP: the result of an undo has the lines about changes that no tool named.
func TestNotesOverHTTP(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "b": gittest.File("1")})
	f.call("POST", "/session/s/steps", StepBegin{MessageID: "m", Role: "user", StepID: "1", Paths: cairn.Paths{"a"}, Meta: map[string]string{session.MetaTool: "Edit"}}).want(t, 200, nil)
	f.write("a", "2")
	f.write("b", "2")
	f.call("POST", "/session/s/steps/1/end", StepEnd{}).want(t, 200, nil)
	var answer struct{ Result struct{ Notes []string } }
	f.call("POST", "/session/s/undo", `{}`).want(t, 200, &answer)
	if notes := answer.Result.Notes; len(notes) != 1 || notes[0] != "changed while an edit tool ran that did not name them, so they may be yours, and went along: b" {
		t.Errorf("%q", notes)
	}
}
