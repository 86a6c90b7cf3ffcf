package httpapi

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// step runs do as a step of a session.
func (f *fixture) step(id, message, step string, do func()) {
	f.t.Helper()
	path := "/session/" + url.PathEscape(id) + "/steps"
	var s session.Step
	f.call("POST", path, StepBegin{MessageID: message, Role: "user", StepID: step}).want(f.t, 200, &s)
	if s.ID != step || s.Before.Hash == "" || !s.Open() {
		f.t.Errorf("%+v", s)
	}
	do()
	f.call("POST", path+"/"+url.PathEscape(step)+"/end", StepEnd{}).want(f.t, 200, &s)
	if s.Open() {
		f.t.Errorf("%+v", s)
	}
}

// TestKindsOfOperations: /openapi.json has every kind of operation that the server lists.
func TestKindsOfOperations(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("s", "m", "1", func() { f.write("a", "2\n") })
	f.call("POST", "/session/s/revert", `{"messageID":"m"}`).want(t, 200, nil)
	f.call("POST", "/session/s/unrevert", `{}`).want(t, 200, nil)
	f.call("POST", "/apply", ChangeRequest{Action: "restore", Hash: "@~1"}).want(t, 200, nil)
	f.call("POST", "/undo", nil).want(t, 200, nil)
	f.call("POST", "/redo", nil).want(t, 200, nil)
	f.call("POST", "/merge", `{"hash":"@"}`).want(t, 200, nil)
	var done struct{ Operations []struct{ Kind string } }
	f.call("GET", "/operations", nil).want(t, 200, &done)
	var api struct {
		Components struct {
			Schemas struct {
				Operation struct {
					Properties struct{ Kind struct{ Enum []string } }
				}
			}
		}
	}
	f.call("GET", "/openapi.json", nil).want(t, 200, &api)
	var kinds []string
	for _, op := range done.Operations {
		kinds = append(kinds, op.Kind)
	}
	slices.Sort(kinds)
	enum := api.Components.Schemas.Operation.Properties.Kind.Enum
	slices.Sort(enum)
	if !slices.Equal(kinds, enum) {
		t.Errorf("operations of the kinds %v, described are %v", kinds, enum)
	}
}

// TestSpecification: the three operations of the specification, to the letter.
func TestSpecification(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a.txt": gittest.File("one\n"), "gone": gittest.File("g\n")})
	f.step("s", "m1", "1", func() { f.write("a.txt", "two\n") })
	f.step("s", "m2", "2", func() {
		f.write("new", "n\n")
		if err := os.Remove(filepath.Join(f.root, "gone")); err != nil {
			t.Fatal(err)
		}
	})

	var diffs map[string][]map[string]any
	f.call("GET", "/session/s/diff?messageID=m2", nil).want(t, 200, &diffs)
	want := []map[string]any{
		{"file": "gone", "before": "g\n", "after": "", "additions": 0.0, "deletions": 1.0, "status": "deleted"},
		{"file": "new", "before": "", "after": "n\n", "additions": 1.0, "deletions": 0.0, "status": "added"},
	}
	for _, d := range diffs["diffs"] {
		if d["patch"] == "" {
			t.Errorf("no patch: %v", d)
		}
		delete(d, "patch")
	}
	if diff := cmp.Diff(want, diffs["diffs"]); diff != "" || len(diffs) != 1 {
		t.Error(diff)
	}
	diffs = nil
	f.call("GET", "/session/s/diff", nil).want(t, 200, &diffs)
	if len(diffs["diffs"]) != 3 {
		t.Errorf("%d files", len(diffs["diffs"]))
	}

	var answer struct {
		ID     string
		Revert *struct{ MessageID, PartID, Snapshot, Diff string }
		Result *cairn.Result
	}
	f.call("POST", "/session/s/revert", `{"messageID":"m2"}`).want(t, 200, &answer)
	if answer.ID != "s" || answer.Revert == nil || answer.Revert.MessageID != "m2" || len(answer.Revert.Snapshot) != 40 || answer.Revert.Diff == "" {
		t.Errorf("%+v", answer)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{"a.txt": gittest.File("two\n"), "gone": gittest.File("g\n")})
	answer.Revert = nil
	f.call("POST", "/session/s/unrevert", `{}`).want(t, 200, &answer)
	if answer.Revert != nil {
		t.Errorf("%+v", answer)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{"a.txt": gittest.File("two\n"), "new": gittest.File("n\n")})
	f.call("POST", "/session/s/unrevert", ``).want(t, 200, nil)

	f.call("GET", "/session/none/diff", nil).problem(t, 404, "not-found")
	f.call("GET", "/session/s/diff?messageID=none", nil).problem(t, 404, "not-found")
	f.call("POST", "/session/none/revert", `{"messageID":"m1"}`).problem(t, 404, "not-found")
	f.call("POST", "/session/s/revert", `{"messageID":"none"}`).problem(t, 404, "not-found")
	f.call("POST", "/session/s/revert", `{"messageID":"m1","partID":"none"}`).problem(t, 404, "not-found")
	f.call("POST", "/session/none/unrevert", `{}`).problem(t, 404, "not-found")
}

// TestRevertDuringStep: a session whose step is open is busy, unless the request says
// that its agent is gone.
func TestRevertDuringStep(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.step("s", "m1", "1", func() { f.write("a.txt", "1\n") })
	f.call("POST", "/session/s/steps", StepBegin{MessageID: "m2", StepID: "2"}).want(t, 200, nil)
	for _, target := range []string{"/session/s/revert", "/session/s/unrevert", "/session/s/undo"} {
		body := `{}`
		if target == "/session/s/revert" {
			body = `{"messageID":"m1"}`
		}
		f.call("POST", target, body).problem(t, 409, "busy")
	}
	f.call("POST", "/session/s/revert", `{"messageID":"m1","endOpen":true}`).want(t, 200, nil)
	gittest.AssertTree(t, f.root, someTree)
}

// TestTwoReverts: of two clients who revert at once one gets 409.
func TestTwoReverts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.step("s", "m1", "1", func() { f.write("a.txt", "1\n") })
	release := f.hold()
	first := make(chan reply)
	go func() { first <- f.call("POST", "/session/s/revert", `{"messageID":"m1"}`) }()
	wait(t, "the first goes back", f.goingBack)
	f.call("POST", "/session/s/revert", `{"messageID":"m1"}`).problem(t, 409, "busy")
	release()
	(<-first).want(t, 200, nil)
	gittest.AssertTree(t, f.root, someTree)
}

// TestSessions: the life of a session whose ids are as awkward as ids may be.
func TestSessions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	id, fork := "ses/1 %2F..\u00e9?#&+", "fork:of/it"
	path := "/session/" + url.PathEscape(id)
	var s session.Session
	f.call("POST", "/sessions", SessionBegin{ID: id, Title: "T", Meta: map[string]string{"agent": "a"}}).want(t, 200, &s)
	f.call("POST", "/sessions", SessionBegin{ID: id}).want(t, 200, &s)
	if s.ID != id || s.Title != "T" || string(s.Root) != f.root {
		t.Errorf("%+v", s)
	}
	f.call("POST", path+"/messages", MessageBegin{MessageID: "m/1", Role: "user", Prompt: "do it", Parts: []session.Part{{ID: "p", Type: "text"}}}).want(t, 200, nil)
	f.step(id, "m/1", "st/1", func() { f.write("a.txt", "1\n") })
	f.call("POST", path+"/steps", StepBegin{MessageID: "m/1", StepID: "st/2", Paths: []string{"d/b.go"}}).want(t, 200, nil)
	f.call("POST", path+"/steps/"+url.PathEscape("st/2")+"/hint", `{"paths":["a.txt"]}`).want(t, 204, nil)
	f.call("POST", path+"/steps/"+url.PathEscape("st/2")+"/end", nil).want(t, 200, nil)
	var history []session.Message
	f.call("GET", path+"/history", nil).want(t, 200, &history)
	if len(history) != 1 || history[0].ID != "m/1" || history[0].Prompt != "do it" || len(history[0].Steps) != 2 || history[0].Steps[0].ID != "st/1" {
		t.Errorf("%+v", history)
	}
	f.call("POST", path+"/fork", map[string]string{"id": fork}).want(t, 200, &s)
	if s.ID != fork || s.Fork == nil || s.Fork.Session != id {
		t.Errorf("%+v", s)
	}
	f.call("POST", path+"/fork", map[string]string{"id": id}).problem(t, 409, "exists")
	var list []session.Session
	f.call("GET", "/sessions", nil).want(t, 200, &list)
	if len(list) != 2 {
		t.Errorf("%d sessions", len(list))
	}
	f.call("POST", path+"/undo", nil).want(t, 200, nil)
	gittest.AssertTree(t, f.root, someTree)
	f.call("POST", path+"/redo", nil).want(t, 200, nil)
	var plan struct{ Result cairn.Result }
	f.call("POST", path+"/revert", SessionRevert{Start: true, DryRun: true}).want(t, 200, &plan)
	if len(plan.Result.Plan) != 1 || plan.Result.PlanID == "" {
		t.Errorf("%+v", plan)
	}
	f.call("POST", path+"/revert", SessionRevert{Start: true, Plan: "0123456789abcdef"}).problem(t, 409, "moved")
	f.call("POST", path+"/revert", SessionRevert{Start: true, Plan: plan.Result.PlanID}).want(t, 200, nil)
	gittest.AssertTree(t, f.root, someTree)
	f.call("POST", path+"/commit", nil).want(t, 200, nil)
	f.call("POST", path+"/redo", nil).problem(t, 404, "not-found")
	f.call("DELETE", path, nil).want(t, 204, nil)
	f.call("GET", path, nil).problem(t, 404, "not-found")
	f.call("DELETE", path, nil).problem(t, 404, "not-found")
}
