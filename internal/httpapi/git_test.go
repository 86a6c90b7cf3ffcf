package httpapi

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestGit: an answer says what has moved in git. Git goes back by the plan of a dry run and not without.
func TestGit(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	f, o := newFixture(t, someTree), gittest.NewOracle(t)
	o.Init(f.root)
	o.Commit(f.root, "one")
	o.In(f.root, "branch", "topic")
	there := func() bool {
		_, err := o.Try(f.root, "rev-parse", "--verify", "topic")
		return err == nil
	}
	hash := f.track()
	f.call("POST", "/session/s/steps", StepBegin{MessageID: "m1", Role: "user", StepID: "1"}).want(t, 200, nil)
	f.write("a.txt", "changed\n")
	o.In(f.root, "branch", "-q", "-D", "topic")
	f.call("POST", "/session/s/steps/1/end", "").want(t, 200, nil)

	var state GitState
	f.call("GET", "/git?from="+hash, nil).want(t, 200, &state)
	if !state.On || len(state.Moved) != 1 || state.Moved[0] != "1 branch deleted" {
		t.Errorf("%+v", state)
	}
	f.call("GET", "/git?from=nosuch", nil).problem(t, 404, "not-found")

	f.call("POST", "/session/s/revert", SessionRevert{Start: true, Git: true}).problem(t, 409, "refused")
	if there() {
		t.Fatal("git moved without a plan")
	}
	var plan, done SessionAnswer
	f.call("POST", "/session/s/revert", SessionRevert{Start: true, Git: true, DryRun: true}).want(t, 200, &plan)
	f.call("POST", "/session/s/revert", SessionRevert{Start: true, Git: true, Plan: plan.Result.PlanID}).want(t, 200, &done)
	if !there() || done.Result.Git == nil || len(done.Result.Git.Changes) != 1 || len(done.Result.Restored) != 1 {
		t.Errorf("%+v", done.Result)
	}
	f.call("POST", "/session/s/unrevert", SessionBack{Git: true}).problem(t, 409, "refused")

	var back cairn.Result
	change := ChangeRequest{Action: "undo", Git: true}
	f.call("POST", "/plan", change).want(t, 200, &back)
	f.call("POST", "/apply", change).problem(t, 409, "refused")
	change.Plan = back.PlanID
	f.call("POST", "/apply", change).want(t, 200, &back)
	if there() {
		t.Error("the branch is there after the undo")
	}
	f.call("POST", "/redo", BackRequest{Git: true, DryRun: true}).want(t, 200, &back)
	f.call("POST", "/redo", BackRequest{Git: true, Plan: back.PlanID}).want(t, 200, nil)
	f.call("POST", "/undo", BackRequest{Git: true, Paths: []string{"a.txt"}}).problem(t, 400, "bad-request")
	f.call("POST", "/apply", ChangeRequest{Action: "restore", Hash: hash, Git: true}).problem(t, 400, "bad-request")

	o.In(f.root, "branch", "-q", "-D", "topic")
	var git cairn.GitResult
	f.call("POST", "/git/restore", GitRestore{Hash: hash}).problem(t, 409, "refused")
	f.call("POST", "/git/restore", GitRestore{Hash: hash, Parts: []string{"refs"}, DryRun: true}).want(t, 200, &git)
	o.In(f.root, "branch", "mine")
	f.call("POST", "/git/restore", GitRestore{Hash: hash, Parts: []string{"refs"}, Plan: git.PlanID}).problem(t, 409, "moved")
	o.In(f.root, "branch", "-q", "-D", "mine")
	f.call("POST", "/git/restore", GitRestore{Hash: hash, Parts: []string{"refs"}, Plan: git.PlanID}).want(t, 200, &git)
	if !there() || git.Operation == "" || git.Before == "" {
		t.Errorf("%+v", git)
	}
	f.call("POST", "/git/restore", GitRestore{Hash: hash, Parts: []string{"hooks"}}).problem(t, 400, "bad-request")
}
