package webui

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// TestVerdictsOnTheTimeline: a checkpoint with results is marked, and so is a step that led to an equal
// state.
func TestVerdictsOnTheTimeline(t *testing.T) {
	t.Parallel()
	f := story(t)
	f.get(f.at("")).want(http.StatusOK).lacks("tests passed", "tests failed")
	note := func(spec, command string, status int) {
		c, err := f.repo.Lookup(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.repo.NoteTest(t.Context(), cairn.TestResult{Checkpoint: c.ID, Command: cairn.Paths{command}, Status: status, When: time.Unix(1e9, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	note(f.checkpointOf("before the agent"), "make", 1)
	page := f.get(f.at("")).want(http.StatusOK, "tests failed").lacks("tests passed")
	if n := strings.Count(page.body, "tests failed</span>"); n != 2 { // and the beginning of the session
		t.Errorf("%d entries failed", n)
	}
	note(f.track("the last state again"), "make", 0)
	f.get(f.at("session", "id", "ses_4f1c")).want(http.StatusOK, `class="tests passed"`, "tests passed</span>")
	note("@", "another", cairn.TestSkipped)
	f.get(f.at("")).want(http.StatusOK, "tests passed</span>")
}
