package session_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/session"
)

// agentStep is a step of a session with one call of a tool.
func (f *fixture) agentStep(id, message, step, command string, do func()) *session.Step {
	f.Helper()
	if _, err := f.Begin(background, session.SessionBegin{ID: id, Meta: map[string]string{session.MetaAgent: "codex"}}); err != nil {
		f.Fatal(err)
	}
	if _, err := f.BeginStep(background, session.StepBegin{
		Session: id, Message: message, Role: session.RoleUser, Prompt: "prompt of " + message, Step: step,
		Meta: map[string]string{session.MetaTool: "Bash", session.MetaCommand: command},
	}); err != nil {
		f.Fatal(err)
	}
	do()
	st, err := f.EndStep(background, session.StepEnd{Session: id, Step: step})
	if err != nil {
		f.Fatal(err)
	}
	return st
}

func (f *fixture) workOf(checkpoint string) *session.Work {
	f.Helper()
	w, err := f.WorkOf(background, checkpoint, make(session.WorkCache))
	if err != nil {
		f.Fatal(err)
	}
	return w
}

// TestV60_WorkOfACheckpoint: the checkpoint after a step tells of that step, also when more
// came later, when the step was taken back, and in a fork; that of a day tells of none.
func TestV60_WorkOfACheckpoint(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	day, err := f.repo.Track(background, cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if w := f.workOf(day.Checkpoint); w != nil {
		t.Errorf("%+v", w)
	}
	one := f.agentStep("s", "m1", "1", "date > b", func() { f.write("b", "1") })
	two := f.agentStep("s", "m2", "2", "make", func() {
		for i := range 600 {
			f.write(fmt.Sprintf("many/%03d", i), "x")
		}
	})
	want := map[string]*session.Work{
		one.After.ID: {Session: "s", Message: "m1", Step: "1", Agent: "codex", Prompt: "prompt of m1",
			Calls: []session.Call{{Tool: "Bash", Command: "date > b"}}, Paths: cairn.Paths{"b"}, Changed: 1},
		two.After.ID: {Session: "s", Message: "m2", Step: "2", Agent: "codex", Prompt: "prompt of m2",
			Calls: []session.Call{{Tool: "Bash", Command: "make"}}, Paths: cairn.Paths{"many/000", "many/001", "many/002"}, Changed: 600},
	}
	check := func(when string) {
		t.Helper()
		for id, w := range want {
			if got := f.workOf(id); !reflect.DeepEqual(got, w) {
				t.Errorf("%s:\n got %+v\nwant %+v", when, got, w)
			}
		}
	}
	check("at once")
	if _, err := f.Fork(background, "s", "", "fork"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	s, err := f.Get(background, "s")
	if err != nil || !reflect.DeepEqual(s.Latest, want[one.After.ID]) {
		t.Errorf("after undo the latest is %+v, %v", s.Latest, err)
	}
	if _, err := f.Commit(background, "s"); err != nil {
		t.Fatal(err)
	}
	check("taken back for good")
	if err := f.Delete(background, "s"); err != nil {
		t.Fatal(err)
	}
	f.reopen()
	check("deleted, but for a fork")
	if s, err := f.Get(background, "fork"); err != nil || s.Agent != "codex" || s.Latest == nil || s.Latest.Step != "2" || s.Latest.Session != "fork" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestV60_RecordsOfEarlierReleases: a session whose records know no work is told from its
// events.
func TestV60_RecordsOfEarlierReleases(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	record := func(author, text string) (id string) {
		t.Helper()
		err := access.Lines(f.repo).Update(background, func(u *operation.LineUpdate) error {
			e, err := u.Append(background, "old", operation.LineAppend{Message: "m", Author: author, Capture: true, Record: json.RawMessage(text)})
			if err == nil {
				id = e.ID
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	const now = `"now":{"id":"old","meta":{"agent":"qwen"},"created":1,"at":%d,"messages":%d,"steps":%d%s}}`
	record("", `{"v":1,"events":[{"kind":"begin"}],`+fmt.Sprintf(now, 1, 0, 0, ""))
	record("", `{"v":1,"events":[{"kind":"message","message":"m1","role":"user","prompt":"fix it\nnow"}],`+fmt.Sprintf(now, 2, 1, 0, ""))
	record("", `{"v":1,"events":[{"kind":"step","message":"m1","step":"t1","meta":{"agent":"qwen"}}],`+fmt.Sprintf(now, 3, 1, 1, `,"open":"t1","openMessage":"m1"`))
	f.write("b", "1")
	file, err := json.Marshal(f.repo.Root() + "/b")
	if err != nil {
		t.Fatal(err)
	}
	end := record(session.AuthorAgent, `{"v":1,"events":[{"kind":"end","step":"t1","changed":1,"files":[`+string(file)+
		`],"parts":[{"id":"t1","type":"tool","meta":{"tool":"Bash"}}]}],`+fmt.Sprintf(now, 4, 1, 1, ""))
	want := &session.Work{Session: "old", Message: "m1", Step: "t1", Agent: "qwen", Prompt: "fix it …",
		Calls: []session.Call{{Tool: "Bash"}}, Paths: cairn.Paths{"b"}, Changed: 1}
	if got := f.workOf(end); !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	list, err := f.List(background)
	if err != nil || len(list) != 1 || !reflect.DeepEqual(list[0].Latest, want) || list[0].Agent != "qwen" {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestV64_ForksOfEarlierReleases: a fork is known by the keys that it had.
func TestV64_ForksOfEarlierReleases(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"session":"s","message":"m","checkpoint":"c"}`, `{"sessionID":"s","messageID":"m","checkpoint":"c"}`} {
		var fork session.ForkPoint
		if err := json.Unmarshal([]byte(text), &fork); err != nil || fork != (session.ForkPoint{Session: "s", Message: "m", Checkpoint: "c"}) {
			t.Errorf("%s: %+v, %v", text, fork, err)
		}
	}
}

// TestWorkOfAWayBackThatIsOver: a way back is called by its prompt also once the session has gone on, which
// takes the message out of it.
func TestWorkOfAWayBackThatIsOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.turn("s", "m-1", "One", "a", "2")
	f.turn("s", "m-2", "Two", "a", "3")
	if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	after := ""
	for op, err := range f.repo.Operations(background) {
		if err != nil {
			t.Fatal(err)
		}
		after = op.After
	}
	f.turn("s", "m-3", "Three", "b", "4")
	if w := f.workOf(after); w == nil || w.Message != "m-2" || w.Prompt != "Two" {
		t.Errorf("work %+v", w)
	}
}
