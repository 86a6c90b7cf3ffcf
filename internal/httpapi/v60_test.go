package httpapi

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// agentStep lets an agent write a file.
func (f *fixture) agentStep(id, file string) {
	f.t.Helper()
	var s session.Session
	f.call("POST", "/sessions", SessionBegin{ID: id, Meta: map[string]string{session.MetaAgent: "codex"}}).want(f.t, 200, &s)
	var st session.Step
	f.call("POST", "/session/"+id+"/steps", StepBegin{
		MessageID: "m", Role: "user", StepID: "st", Prompt: "make \x1b[31mit\nnow",
		Meta: map[string]string{session.MetaTool: "Bash", session.MetaCommand: "touch " + file},
	}).want(f.t, 200, &st)
	f.write(file, "x")
	f.call("POST", "/session/"+id+"/steps/st/end", StepEnd{}).want(f.t, 200, &st)
	if !reflect.DeepEqual(st.Calls, []session.Call{{Tool: "Bash", Command: "touch " + file}}) {
		f.t.Errorf("%+v", st.Calls)
	}
}

// TestV60_WhoAndWhat: checkpoints and sessions say who worked, for which prompt, with which
// tool and command, and on which files.
func TestV60_WhoAndWhat(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.agentStep("uuid-1", "new")
	want := &session.Work{
		Session: "uuid-1", Message: "m", Step: "st", Agent: "codex", Prompt: "make  [31mit …",
		Calls: []session.Call{{Tool: "Bash", Command: "touch new"}}, Paths: cairn.Paths{"new"}, Changed: 1,
	}
	var checkpoints CheckpointList
	f.call("GET", "/checkpoints", nil).want(t, 200, &checkpoints)
	if got := checkpoints.Checkpoints[0].Work; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	var one CheckpointInfo
	f.call("GET", "/checkpoints/"+checkpoints.Checkpoints[0].ID, nil).want(t, 200, &one)
	if !reflect.DeepEqual(one.Work, want) {
		t.Errorf("%+v", one.Work)
	}
	var list []session.Session
	f.call("GET", "/sessions", nil).want(t, 200, &list)
	if !reflect.DeepEqual(list[0].Latest, want) || list[0].Agent != "codex" {
		t.Errorf("%+v", list[0])
	}
	var history []session.Message
	f.call("GET", "/session/uuid-1/history", nil).want(t, 200, &history)
	if history[0].Prompt != "make \x1b[31mit\nnow" || len(history[0].Steps[0].Calls) != 1 {
		t.Errorf("%+v", history)
	}
}

// TestV61_BeginningOfAnID: every door to one session takes the beginning of its id, and @,
// but DELETE does not.
func TestV61_BeginningOfAnID(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.agentStep("0c5f-first", "one")
	f.agentStep("0c6a-second", "two")
	for _, name := range []string{"0c6a", "@", "0c6a-second"} {
		for _, c := range []struct{ method, path, body string }{
			{"GET", "", ""}, {"GET", "/history", ""}, {"GET", "/diff", ""}, {"POST", "/undo", "{}"}, {"POST", "/redo", "{}"},
			{"POST", "/revert", `{"messageID":"m"}`}, {"POST", "/unrevert", "{}"},
			{"POST", "/fork", `{"id":"fork-of-` + name + `"}`}, {"POST", "/commit", ""},
		} {
			var body any
			if c.body != "" {
				body = c.body
			}
			if got := f.call(c.method, "/session/"+name+c.path, body); got.status >= http.StatusBadRequest {
				t.Errorf("%s %s%s: %d %s", c.method, name, c.path, got.status, got.body)
			}
		}
		f.agentStep("0c6a-second", "two") // is the newest again
	}
	var list []session.Session
	f.call("GET", "/sessions", nil).want(t, 200, &list)
	if len(list) != 5 { // the two and their forks: none was begun under a short name
		t.Errorf("%+v", list)
	}
	f.call("GET", "/session/0c", nil).want(t, 400, nil)
	f.call("GET", "/session/first", nil).want(t, 404, nil)
	f.call("DELETE", "/session/0c6a", nil).want(t, 404, nil)
	f.call("DELETE", "/session/@", nil).want(t, 404, nil)
	f.call("POST", "/session/0c6a/steps/st/hint", `{"paths":["two"]}`).want(t, 404, nil)
	f.call("POST", "/session/@/messages", `{"messageID":"m"}`).want(t, 400, nil)
	f.call("POST", "/sessions", SessionBegin{ID: "@"}).want(t, 400, nil)
}
