package httpapi

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestUnrevertSome brings some of a revert back by a plan, and then the rest.
func TestUnrevertSome(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.step("s", "m1", "1", func() {
		f.write("a", "one\n"+tenLines[2:len(tenLines)-3]+"ten\n")
		f.write("b", "b\n")
		f.write("c", "c\n")
	})
	f.call("POST", "/session/s/unrevert", `{"paths":["b"]}`).problem(t, 404, "not-found")
	f.call("POST", "/session/s/revert", `{"start":true}`).want(t, 200, nil)
	names := f.hunkNames("/session/s/hunks?reverted=true")
	if len(names) != 4 {
		t.Fatalf("hunks %q", names)
	}
	var plan, done struct {
		ID     string
		Revert *struct{}
		Result cairn.Result
	}
	body := SessionUnrevert{ChosenHunks: ChosenHunks{Hunks: names[1:2]}, SessionBack: SessionBack{DryRun: true}}
	f.call("POST", "/session/s/unrevert", body).want(t, 200, &plan)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File(tenLines)})
	body.DryRun, body.Plan = false, plan.Result.PlanID
	f.call("POST", "/session/s/unrevert", body).want(t, 200, &done)
	if done.ID != "s" || done.Revert == nil || done.Result.Operation == "" {
		t.Errorf("%+v", done)
	}
	f.call("POST", "/session/s/unrevert", body).problem(t, 409, "moved")
	f.call("POST", "/session/s/unrevert", `{"paths":["b"]}`).want(t, 200, nil)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File(tenLines[:len(tenLines)-3] + "ten\n"), "b": gittest.File("b\n")})
	for _, wrong := range []string{`{"paths":["b"],"hunks":["` + names[0] + `"]}`, `{"paths":["b"],"endOpen":true}`, `{"paths":["b"],"git":true}`, `{"paths":[""]}`} {
		f.call("POST", "/session/s/unrevert", wrong).problem(t, 400, "bad-request")
	}
	f.call("GET", "/session/s/hunks?reverted=true&turn=1", nil).problem(t, 400, "bad-request")
	f.call("POST", "/session/s/unrevert", ``).want(t, 200, nil)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("one\n" + tenLines[2:len(tenLines)-3] + "ten\n"), "b": gittest.File("b\n"), "c": gittest.File("c\n")})
}

// TestRevertTurn takes one turn back, or a path of it, and leaves what came later.
func TestRevertTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.step("s", "m1", "1", func() { f.write("a", "one\n"+tenLines[2:]); f.write("b", "b\n") })
	f.step("s", "m2", "2", func() { f.write("a", "one\n"+tenLines[2:len(tenLines)-3]+"ten\n") })
	f.call("POST", "/session/s/revert", `{"turn":1}`).want(t, 200, nil)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File(tenLines[:len(tenLines)-3] + "ten\n")})
	f.call("POST", "/undo", `{}`).want(t, 200, nil)
	f.call("POST", "/session/s/revert", `{"turn":1,"paths":["b"]}`).want(t, 200, nil)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("one\n" + tenLines[2:len(tenLines)-3] + "ten\n")})
	f.call("POST", "/session/s/revert", `{"turn":3}`).problem(t, 404, "not-found")
	for _, wrong := range []string{`{"turn":1,"endOpen":true}`, `{"turn":1,"git":true}`, `{"turn":1,"start":true}`, `{"turn":1,"messageID":"m1"}`, `{"turn":1,"stepID":"1"}`} {
		f.call("POST", "/session/s/revert", wrong).problem(t, 400, "bad-request")
	}
}
