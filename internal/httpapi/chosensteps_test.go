package httpapi

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestSessionSteps takes chosen steps of a session back, with a plan, and some paths and hunks of
// them.
func TestSessionSteps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.step("s", "m1", "edit-1", func() { f.write("a", "one\n"+tenLines[2:]) })
	f.step("s", "m2", "edit-2", func() { f.write("a", "one\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n"); f.write("b", "b") })
	f.step("s", "m3", "run-3", func() { f.write("a", "one\n2\n3\n4\nfive\n6\n7\n8\n9\nten\n") })
	var plan, done struct {
		ID     string
		Result cairn.Result
	}
	body := SessionRevert{ChosenSteps: ChosenSteps{StepIDs: []string{"edit-1", "@"}}, DryRun: true}
	f.call("POST", "/session/s/revert", body).want(t, 200, &plan)
	body.DryRun, body.Plan = false, plan.Result.PlanID
	f.call("POST", "/session/s/revert", body).want(t, 200, &done)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n"), "b": gittest.File("b")})
	if len(plan.Result.Plan) != 1 || done.Result.Operation == "" || done.ID != "s" {
		t.Errorf("%+v, %+v", plan, done)
	}
	f.call("POST", "/session/s/revert", body).problem(t, 409, "moved")
	f.call("POST", "/undo", `{}`).want(t, 200, nil)

	f.call("POST", "/session/s/revert", `{"stepIDs":["edit-2"],"paths":["b"]}`).want(t, 200, nil)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("one\n2\n3\n4\nfive\n6\n7\n8\n9\nten\n")})
	f.call("POST", "/undo", `{}`).want(t, 200, nil)

	names := f.hunkNames("/session/s/hunks?stepIDs=edit-1&stepIDs=run")
	if len(names) != 2 {
		t.Fatalf("hunks %q", names)
	}
	f.call("POST", "/session/s/revert", SessionRevert{ChosenSteps: ChosenSteps{StepIDs: []string{"edit-1", "run-3"}}, ChosenHunks: ChosenHunks{Hunks: names[1:]}}).want(t, 200, nil)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("one\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n"), "b": gittest.File("b")})

	for _, wrong := range []string{
		`"turn":1`, `"stepID":"run-3"`, `"messageID":"m1"`, `"partID":"p"`, `"start":true`, `"endOpen":true`, `"git":true`, `"paths":[""]`,
	} {
		f.call("POST", "/session/s/revert", `{"stepIDs":["edit-1"],`+wrong+`}`).problem(t, 400, "bad-request")
	}
	f.call("POST", "/session/s/revert", `{"messageID":"m1","paths":["b"]}`).problem(t, 400, "bad-request")
	f.call("GET", "/session/s/hunks?stepIDs=edit-1&turn=1", nil).problem(t, 400, "bad-request")
	f.call("GET", "/session/s/hunks?stepIDs=none", nil).problem(t, 404, "not-found")
	f.call("POST", "/session/s/revert", `{"stepIDs":["none"]}`).problem(t, 404, "not-found")
	f.call("POST", "/session/s/steps", StepBegin{MessageID: "m4", Role: "user", StepID: "open"}).want(t, 200, nil)
	f.call("POST", "/session/s/revert", `{"stepIDs":["open"]}`).problem(t, 409, "busy")
}
