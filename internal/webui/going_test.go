package webui

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/session"
)

// box is the box of a step in a preview of the session of story.
func stepBox(step string) string { return (&way{Session: "ses_4f1c"}).boxOf(step) }

func (f *fixture) isThere(name string) bool {
	_, err := os.Lstat(filepath.Join(f.root, name))
	return err == nil
}

// A person unticks steps of two turns. The others go back in one operation; the messages of the
// session stay.
func TestChosenStepsOfASession(t *testing.T) {
	t.Parallel()
	f := story(t)
	plan := f.get(f.at("plan", "do", "session", "session", "ses_4f1c", "message", "m1")).want(http.StatusOK, "Prompt 1<", "Prompt 2<", "Step 3<", "Add a script that lists all accounts.")
	fields := plan.ticked()
	if len(fields["step"]) != 4 || len(fields["file"]) == 0 || len(fields["hunk"]) == 0 {
		t.Fatalf("ticked are %v", fields)
	}
	fields = without(without(fields, "step", stepBox("s2")), "step", stepBox("s4"))
	part := f.send(plan, "choose", fields).want(http.StatusOK, "Take back 2 chosen steps", "account.go", "old.css", "Preview all of it").lacks("Take ledger/account_test.go", "delete</span>")
	if got := part.ticked()["step"]; len(got) != 2 || strings.Count(part.body, `name="step"`) != 4 {
		t.Errorf("the preview of the part has %v", got)
	}
	done := f.confirm(part).want(http.StatusSeeOther)
	f.get(done.header.Get("Location")).want(http.StatusOK, "Done.")
	if f.read("ledger/account.go") != goBefore || f.read("README.md") != "# Ledger\n\nKeeps accounts.\n" || !f.isThere("web/old.css") || !f.isThere("ledger/account_test.go") || !f.isThere("bin/list.sh") {
		t.Error("not exactly the chosen steps went back")
	}
	f.get(f.at("session", "id", "ses_4f1c")).want(http.StatusOK).lacks("reverted")
	f.confirm(f.get(f.at("plan", "do", "undo"))).want(http.StatusSeeOther)
	if f.read("ledger/account.go") != goAfter || f.isThere("web/old.css") {
		t.Error("the undo did not bring the steps back")
	}
	// All boxes ticked again are the whole session from there on.
	again := part.ticked()
	again["step"] = plan.ticked()["step"]
	f.send(part, "choose", again).want(http.StatusOK, "account_test.go", "list.sh")
	again["step"] = nil
	f.send(part, "choose", again).want(http.StatusBadRequest, "Nothing is chosen")
}

// Files and single changes of a session are chosen in its preview, with steps or without.
func TestChosenChangesOfASession(t *testing.T) {
	t.Parallel()
	f := story(t)
	f.write("ledger/account.go", "// by hand\n"+goAfter)
	address := f.at("plan", "do", "session", "session", "ses_4f1c", "message", "m1")
	plan := f.get(address).want(http.StatusOK)
	files := f.send(plan, "choose", without(plan.ticked(), "file", "f"+hash("README.md"))).want(http.StatusOK, "all but 1 path", "<code>README.md</code>")
	f.confirm(files).want(http.StatusSeeOther)
	if f.read("ledger/account.go") != "// by hand\n"+goBefore || f.read("README.md") != "# Ledger\n\nKeeps accounts, in cents.\n" || f.isThere("bin") {
		t.Error("not exactly the ticked files went back")
	}
	f.confirm(f.get(f.at("plan", "do", "undo"))).want(http.StatusSeeOther)

	plan = f.get(address).want(http.StatusOK)
	fields := plan.ticked()
	chosen := hunkBox.FindAllStringSubmatch(plan.body[strings.Index(plan.body, `<details class="file" id="f`+hash("ledger/account.go")):], -1)
	fields = without(fields, "hunk", chosen[0][1]) // the imports stay
	fields = without(fields, "step", stepBox("s4"))
	part := f.send(plan, "choose", fields).want(http.StatusOK, "chosen changes").lacks("Take bin/list.sh")
	f.confirm(part).want(http.StatusSeeOther)
	got := f.read("ledger/account.go")
	if !strings.HasPrefix(got, "// by hand\npackage ledger\n\nimport (\n") || strings.Contains(got, "in cents") || !f.isThere("bin/list.sh") || f.isThere("ledger/account_test.go") {
		t.Errorf("account.go is %s", got)
	}
}

// A session preview without anything to do keeps its boxes, so that a person can tick others.
func TestStepsWithoutEffect(t *testing.T) {
	t.Parallel()
	f := story(t)
	f.stepOf(session.StepBegin{Session: "ses_4f1c", Message: "m4", Step: "idle", Prompt: "Only look."}, func() {})
	f.get(f.at("plan", "do", "session", "session", "ses_4f1c", "message", "m4")).want(http.StatusOK, "Nothing would change", "Only look.")
	part := f.get(f.at("plan", "do", "part", "session", "ses_4f1c", "message", "m1", "step", "idle")).want(http.StatusOK, "Nothing would change", "Preview only what is ticked")
	fields := part.ticked()
	fields["step"] = append(fields["step"], stepBox("s4"))
	f.send(part, "choose", fields).want(http.StatusOK, "Take back 2 chosen steps", "list.sh")
}

// Addresses that name no part of a session are refused.
func TestBadParts(t *testing.T) {
	t.Parallel()
	f := story(t)
	for query, status := range map[[2]string]int{{"step", "nope"}: http.StatusNotFound, {"message", "nope"}: http.StatusNotFound, {"session", "nope"}: http.StatusNotFound, {"hunk", "000000000000"}: http.StatusNotFound} {
		pairs := map[string]string{"session": "ses_4f1c", "message": "m1"}
		pairs[query[0]] = query[1]
		f.get(f.at("plan", "do", "part", "session", pairs["session"], "message", pairs["message"], "step", pairs["step"], "hunk", pairs["hunk"])).want(status)
	}
	f.get(f.at("plan", "do", "part", "session", "ses_4f1c")).want(http.StatusBadRequest)
	f.get(f.at("plan", "do", "session", "session", "ses_4f1c", "message", "m1", "step", "s1")).want(http.StatusBadRequest)
	f.get(f.at("plan", "do", "undo", "step", "s1")).want(http.StatusBadRequest)
	f.get(f.at("plan", "do", "part", "session", "ses_4f1c", "message", "m1", "without", "a", "path", "b")).want(http.StatusBadRequest)
}

// A step is taken back without what another session changed while it ran. Its preview has boxes for
// the steps of its turn alone.
func TestStepWithoutOtherSessions(t *testing.T) {
	t.Parallel()
	f := story(t)
	step := session.StepBegin{Session: "ses_4f1c", Message: "m4", Role: session.RoleUser, Step: "wide", Prompt: "A wide step.", Paths: []string{"mine.txt"}}
	if _, err := f.sessions.BeginStep(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	f.stepOf(session.StepBegin{Session: "other", Message: "o1", Step: "o", Prompt: "Meanwhile.", Paths: []string{"theirs.txt"}}, func() { f.write("theirs.txt", "other\n") })
	f.write("mine.txt", "wide\n")
	if _, err := f.sessions.EndStep(t.Context(), session.StepEnd{Session: "ses_4f1c", Step: "wide"}); err != nil {
		t.Fatal(err)
	}
	plan := f.get(stepPlan(f, "wide")).want(http.StatusOK, "A wide step.", "mine.txt")
	if n := strings.Count(plan.body, `name="step"`); n != 1 {
		t.Errorf("%d boxes of steps", n)
	}
	f.confirm(plan).want(http.StatusSeeOther)
	if f.isThere("mine.txt") || f.read("theirs.txt") != "other\n" {
		t.Error("not exactly the work of the step went back")
	}
	turn := f.get(stepPlan(f, "s2")).want(http.StatusOK, "Preview all of it")
	if n := len(turn.ticked()["step"]); n != 1 || strings.Count(turn.body, `name="step"`) != 3 {
		t.Errorf("%d boxes are ticked:\n%s", n, turn.body)
	}
	fields := turn.ticked()
	fields["step"] = append(fields["step"], stepBox("s1"))
	f.confirm(f.send(turn, "choose", fields).want(http.StatusOK, "Take back 2 chosen steps")).want(http.StatusSeeOther)
	if f.read("ledger/account.go") != goBefore || f.isThere("ledger/account_test.go") || !f.isThere("bin/list.sh") {
		t.Error("not exactly two steps of the turn went back")
	}
}

// TestConfirmTwice: a preview that is confirmed after its steps went back tells that, not that nothing is ticked.
func TestConfirmTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1\n")
	f.track("")
	f.stepOf(session.StepBegin{Session: "s", Message: "m1", Step: "1", Prompt: "count"}, func() { f.write("a", "2\n") })
	plan := f.get(f.at("plan", "do", "session", "session", "s", "message", "m1"))
	f.confirm(plan).want(http.StatusSeeOther)
	f.confirm(plan).want(http.StatusConflict, "taken back already").lacks("Nothing is chosen")
}
