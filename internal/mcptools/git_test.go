package mcptools

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestGitGoesBack: an answer says what stays in git; with git and the plan id of a preview git goes
// back, and without a plan id nothing is done.
func TestGitGoesBack(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	w, o := newWorld(t, begin), gittest.NewOracle(t)
	o.Init(w.dir)
	o.Commit(w.dir, "one")
	o.In(w.dir, "branch", "topic")
	all := session.New(w.repo)
	if _, err := all.BeginStep(t.Context(), session.StepBegin{Session: "s", Message: "m", Role: session.RoleUser, Step: "1"}); err != nil {
		t.Fatal(err)
	}
	w.change()
	o.In(w.dir, "branch", "-q", "-D", "topic")
	if _, err := all.EndStep(t.Context(), session.StepEnd{Session: "s", Step: "1"}); err != nil {
		t.Fatal(err)
	}
	var out outcome
	if text := w.call("session_undo", map[string]any{}, &out); !strings.Contains(text, "git stays as it is; since then: 1 branch deleted") || len(out.GitMoved) != 1 {
		t.Errorf("%q, %q", text, out.GitMoved)
	}
	w.call("session_redo", map[string]any{}, &out)
	w.fails("not planned", "session_undo", map[string]any{"git": true})
	text := w.call("session_undo", map[string]any{"git": true, "dryRun": true}, &out)
	if !strings.Contains(text, "in git: would create refs/heads/topic") || out.Plan == "" {
		t.Errorf("%q", text)
	}
	text = w.call("session_undo", map[string]any{"git": true, "planID": out.Plan}, &out)
	if !strings.Contains(text, "in git: create refs/heads/topic") || out.Git == nil || len(out.Git.Changes) != 1 || len(out.GitMoved) > 0 {
		t.Errorf("%q, %+v", text, out)
	}
	o.In(w.dir, "rev-parse", "--verify", "topic")
	w.call("preview", map[string]any{"action": "undo", "git": true}, &out)
	w.call("undo", map[string]any{"git": true, "planID": out.Plan}, &out)
	if _, err := o.Try(w.dir, "rev-parse", "--verify", "topic"); err == nil {
		t.Error("the branch is there after the undo of the undo")
	}
}
