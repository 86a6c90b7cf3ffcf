package httpapi

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

const tenLines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

// hunkNames lists the names of all hunks of an answer.
func (f *fixture) hunkNames(target string) (names []string) {
	f.t.Helper()
	var answer Diffs
	f.call("GET", target, nil).want(f.t, 200, &answer)
	for _, d := range answer.Diffs {
		for _, h := range d.Hunks {
			names = append(names, h.ID)
		}
	}
	return names
}

// TestSessionHunks takes single hunks of a turn back, by name and by line, with a plan.
func TestSessionHunks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.step("s", "m1", "1", func() { f.write("a", "one\n"+tenLines[2:len(tenLines)-3]+"ten\n") })
	f.step("s", "m2", "2", func() { f.write("a", "one\n2\n3\n4\nfive\n6\n7\n8\n9\nten\n") })
	first := f.hunkNames("/session/s/hunks?turn=1")
	if len(first) != 2 || len(f.hunkNames("/session/@/hunks?turn=-1")) != 1 || len(f.hunkNames("/session/s/hunks")) != 3 || len(f.hunkNames("/session/s/hunks?stepID=2")) != 1 {
		t.Errorf("hunks %q", first)
	}
	var plan, done struct {
		ID     string
		Result cairn.Result
	}
	body := SessionRevert{Turn: 1, ChosenHunks: ChosenHunks{Hunks: first[1:]}, DryRun: true}
	f.call("POST", "/session/s/revert", body).want(t, 200, &plan)
	if len(plan.Result.Plan) != 1 || plan.Result.PlanID == "" || plan.ID != "s" {
		t.Errorf("%+v", plan)
	}
	body.DryRun, body.Plan = false, plan.Result.PlanID
	f.call("POST", "/session/s/revert", body).want(t, 200, &done)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("one\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n")})
	if done.Result.Operation == "" {
		t.Errorf("%+v", done)
	}
	f.call("POST", "/session/s/revert", body).problem(t, 409, "moved")
	f.call("POST", "/undo", `{}`).want(t, 200, nil)
	f.call("POST", "/session/s/revert", `{"messageID":"m2","lines":[{"path":"a","from":5,"to":5}]}`).want(t, 200, nil)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("one\n2\n3\n4\n5\n6\n7\n8\n9\nten\n")})

	f.call("GET", "/session/s/hunks?turn=3", nil).problem(t, 404, "not-found")
	f.call("GET", "/session/none/hunks", nil).problem(t, 404, "not-found")
	f.call("POST", "/session/s/revert", `{"turn":2,"hunks":["`+first[0]+`"]}`).problem(t, 404, "not-found")
	f.call("POST", "/session/s/steps", StepBegin{MessageID: "m3", Role: "user", StepID: "3"}).want(t, 200, nil)
	f.call("POST", "/session/s/revert", `{"turn":3,"hunks":["`+first[0]+`"]}`).problem(t, 409, "busy")
}

// TestEventOfSessionHunks: a listener is told of hunks that went back, not of their plan.
func TestEventOfSessionHunks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.step("s", "m1", "1", func() { f.write("a", "one\n"+tenLines[2:]) })
	names := f.hunkNames("/session/s/hunks")
	web := httptest.NewServer(f.door)
	defer web.Close()
	defer f.server.Drain()
	next := listen(t, web.URL+"/events?directory="+url.QueryEscape(f.root))
	next() // hello
	f.call("POST", "/session/s/revert", SessionRevert{ChosenHunks: ChosenHunks{Hunks: names}, DryRun: true}).want(t, 200, nil)
	f.call("POST", "/session/s/revert", SessionRevert{ChosenHunks: ChosenHunks{Hunks: names}}).want(t, 200, nil)
	if e := next(); e.Type != EventOperation || e.Kind != "revert" || e.Session != "s" || e.Restored != 1 || e.Operation == "" {
		t.Errorf("%+v", e)
	}
}

// TestHunksOfARange names the hunks between two checkpoints and takes one back.
func TestHunksOfARange(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.track()
	f.write("a", "one\n"+tenLines[2:len(tenLines)-3]+"ten\n")
	f.track()
	names := f.hunkNames("/diff?from=@~1&to=@&hunkIDs=true")
	if len(names) != 2 || f.hunkNames("/diff?from=@~1&to=@") != nil {
		t.Errorf("hunks %q", names)
	}
	if text := f.call("GET", "/diff/text?from=@~1&to=@&hunkIDs=true", nil).want(t, 200, nil); !strings.Contains(string(text.body), "#"+names[1]) {
		t.Errorf("text %s", text.body)
	}
	f.call("POST", "/apply", ChangeRequest{Action: "revert", From: "@~1", To: "@", ChosenHunks: ChosenHunks{Hunks: names[:1]}}).want(t, 200, nil)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File(tenLines[:len(tenLines)-3] + "ten\n")})
	f.call("POST", "/undo", `{}`).want(t, 200, nil)
	f.call("POST", "/apply", `{"action":"revert","from":"@~1","to":"@","lines":[{"path":"a","from":10,"to":10}]}`).want(t, 200, nil)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("one\n" + tenLines[2:])})
}
