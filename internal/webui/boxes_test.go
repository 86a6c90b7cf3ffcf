package webui

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// The fields of the form of a preview, as a browser finds them.
var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="(files|shown|plan)" value="([^"]*)"`)
	tickedBox   = regexp.MustCompile(`name="?(file|hunk|step)"? value="([^"]*)" form="?choose"? checked`)
)

// ticked are the fields that a browser sends from a preview whose boxes are as they were.
func (a *answer) ticked() url.Values {
	fields := make(url.Values)
	for _, m := range append(hiddenField.FindAllStringSubmatch(a.body, -1), tickedBox.FindAllStringSubmatch(a.body, -1)...) {
		fields.Add(m[1], html.UnescapeString(m[2]))
	}
	return fields
}

// send posts the form of a preview to one of its two addresses. It follows a way that leads to
// another preview.
func (f *fixture) send(plan *answer, to string, fields url.Values) *answer {
	f.t.Helper()
	m := regexp.MustCompile(`(?:form)?action="([^"]+/` + to + `\?[^"]*)"`).FindStringSubmatch(plan.body)
	if m == nil {
		f.t.Fatalf("the page has no form:\n%s", plan.body)
	}
	a := f.post(html.UnescapeString(m[1]), fields)
	if strings.Contains(a.header.Get("Location"), "/plan?") {
		return f.get(a.header.Get("Location"))
	}
	return a
}

// tickedIn sends a preview with only some files ticked.
func (f *fixture) tickedIn(plan *answer, to string, files ...string) *answer {
	f.t.Helper()
	fields := plan.ticked()
	fields["file"] = files
	return f.send(plan, to, fields)
}

// without is fields with one value taken out.
func without(fields url.Values, name, value string) url.Values {
	fields[name] = slices.DeleteFunc(slices.Clone(fields[name]), func(v string) bool { return v == value })
	return fields
}

const tens = "line 10\n,ten\n,line 30\n,thirty\n,line 50\n,fifty\n"

// pairs replaces some lines of a numbered text.
func changedLines(n int, pairs string) string {
	return strings.NewReplacer(strings.Split(pairs, ",")...).Replace(numbered(n))
}

// twoFiles has a file with three changes, one with one change and a new one, between two checkpoints.
func twoFiles(t *testing.T) (f *fixture, from, to string) {
	f = newFixture(t)
	f.write("a.txt", numbered(60))
	f.write("b.txt", "b\n")
	from = f.track("")
	f.write("a.txt", changedLines(60, tens))
	f.write("b.txt", "B\n")
	f.write("new.txt", "new\n")
	return f, from, f.track("")
}

// Every preview of a project has boxes for its files and its changes. An unticked change stays.
func TestBoxesOfPreviews(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"restore", "revert", "undo", "redo"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			f, from, to := twoFiles(t)
			address := f.at("plan", "do", "restore", "to", from)
			switch way {
			case "revert":
				address = f.at("plan", "do", "revert", "from", from, "to", to)
			case "undo":
				f.confirm(f.get(f.at("plan", "do", "restore", "to", from))).want(http.StatusSeeOther)
				f.confirm(f.get(f.at("plan", "do", "undo"))).want(http.StatusSeeOther)
				f.confirm(f.get(f.at("plan", "do", "redo"))).want(http.StatusSeeOther)
				address = f.at("plan", "do", "undo")
			case "redo":
				f.confirm(f.get(f.at("plan", "do", "restore", "to", from))).want(http.StatusSeeOther)
				f.confirm(f.get(f.at("plan", "do", "undo"))).want(http.StatusSeeOther)
				address = f.at("plan", "do", "redo")
			}
			goesBack := way != "undo" // else it brings back
			plan := f.get(address).want(http.StatusOK, "take the change at line 10", "take the change at line 30", "What happens in the files")
			fields := plan.ticked()
			if len(fields["hunk"]) != 5 || len(fields["file"]) != 3 {
				t.Fatalf("ticked are %v", fields)
			}
			// The second change of a.txt stays, and b.txt.
			fields = without(fields, "hunk", fields["hunk"][1])
			fields = without(fields, "file", "f"+hash("b.txt"))
			part := f.send(plan, "choose", fields).want(http.StatusOK, "Take back 3 chosen changes", "ten", "fifty").lacks("thirty", "b.txt")
			if again := part.ticked(); len(again["hunk"]) != 3 || len(again["file"]) != 2 {
				t.Errorf("the narrowed preview has %v", again)
			}
			f.confirm(part).want(http.StatusSeeOther)
			back, other := "line 10\n,ten\n,line 50\n,fifty\n", "line 30\n,thirty\n"
			if goesBack {
				back = other
			}
			if got, want := f.read("a.txt"), changedLines(60, back); got != want {
				t.Errorf("a.txt is %q", got)
			}
			if got, want := f.read("b.txt"), map[bool]string{true: "B\n", false: "b\n"}[goesBack]; got != want {
				t.Errorf("b.txt is %q", got)
			}
		})
	}
}

// Without the script a person can untick a box and confirm. Then the preview of what is ticked comes
// first, and nothing has changed.
func TestConfirmingOtherBoxesPreviewsThem(t *testing.T) {
	t.Parallel()
	f, from, to := twoFiles(t)
	plan := f.get(f.at("plan", "do", "revert", "from", from, "to", to)).want(http.StatusOK)
	fields := plan.ticked()
	again := f.send(plan, "apply", without(fields, "hunk", fields["hunk"][0])).want(http.StatusOK, "Take back 4 chosen changes", "preview")
	if f.read("a.txt") != changedLines(60, tens) || f.read("b.txt") != "B\n" {
		t.Fatal("something has changed")
	}
	f.confirm(again).want(http.StatusSeeOther)
	if got := f.read("a.txt"); got != changedLines(60, "line 10\n,ten\n") || f.read("b.txt") != "b\n" {
		t.Errorf("a.txt is %q, b.txt %q", got, f.read("b.txt"))
	}
	f.send(plan, "choose", url.Values{"files": {"3"}}).want(http.StatusBadRequest, "Nothing is chosen")
}

// A change that is merged with later ones keeps its box. Equal changes of which one is gone already
// have none, because a box would be a guess.
func TestBoxesOfMergedChanges(t *testing.T) {
	t.Parallel()
	f, from, to := twoFiles(t)
	f.write("a.txt", "by hand\n"+changedLines(60, tens))
	plan := f.get(f.at("plan", "do", "revert", "from", from, "to", to)).want(http.StatusOK, "take the change at line 11", "take the change at line 51").lacks("-by hand")
	fields := plan.ticked()
	f.confirm(f.send(plan, "choose", without(fields, "hunk", fields["hunk"][2]))).want(http.StatusSeeOther)
	if got := f.read("a.txt"); got != "by hand\n"+changedLines(60, "line 50\n,fifty\n") {
		t.Errorf("a.txt is %q", got)
	}
	same := strings.Repeat("x\n", 9) + "one\n" + strings.Repeat("y\n", 20)
	f.write("same.txt", same+same)
	from = f.track("")
	f.write("same.txt", strings.ReplaceAll(same+same, "one\n", "two\n"))
	to = f.track("")
	if n := len(f.get(f.at("plan", "do", "revert", "from", from, "to", to)).ticked()["hunk"]); n != 2 {
		t.Errorf("two equal changes have %d boxes", n)
	}
	f.write("same.txt", same+strings.Replace(same, "one\n", "two\n", 1))
	if n := len(f.get(f.at("plan", "do", "revert", "from", from, "to", to)).want(http.StatusOK, "same.txt").ticked()["hunk"]); n != 0 {
		t.Errorf("one of two equal changes has %d boxes", n)
	}
}

// A plan of many files is confirmed with all its boxes.
func TestManyBoxes(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	f := newFixture(t)
	f.write("a", "1\n")
	from := f.track("")
	for i := range 3000 {
		f.write(fmt.Sprintf("d/%04d", i), "x\n")
	}
	plan := f.get(f.at("plan", "do", "restore", "to", from))
	if n := len(plan.ticked()["file"]); n != 3001 { // the directory, too
		t.Fatalf("%d boxes", n)
	}
	but := f.send(plan, "choose", without(plan.ticked(), "file", "f"+hash("d/1234"))).want(http.StatusOK, "Restore all but 1 path", "<code>d/1234</code>")
	but = f.send(but, "choose", without(but.ticked(), "file", "f"+hash("d/2345"))).want(http.StatusOK, "Restore all but 2 paths")
	f.confirm(but).want(http.StatusSeeOther)
	if f.read("d/1234") != "x\n" || f.read("d/2345") != "x\n" {
		t.Error("an unticked file is gone")
	}
	rest := f.get(f.at("plan", "do", "restore", "to", from)).want(http.StatusOK, "d/")
	f.confirm(f.tickedIn(rest, "choose", "f"+hash("d"), "f"+hash("d/1234"))).want(http.StatusSeeOther)
	f.get(f.at("plan", "do", "restore", "to", from)).want(http.StatusOK, "2345").lacks("1234")
	f.confirm(f.get(f.at("plan", "do", "undo"))).want(http.StatusSeeOther)
	f.confirm(f.get(f.at("plan", "do", "undo"))).want(http.StatusSeeOther)
	half := plan.ticked()
	for i := range 1500 {
		without(half, "file", fmt.Sprint("f", hash(fmt.Sprintf("d/%04d", i))))
	}
	f.send(plan, "choose", half).want(http.StatusBadRequest, "Too many are ticked")
}

// The plan names what it is about by prompts, not by ids.
func TestPlansSayWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	f := story(t)
	f.get(f.at("plan", "do", "session", "session", "ses_4f1c", "message", "m3")).want(http.StatusOK, "Ledger in cents", "prompt 2", "Add a script that lists all accounts.")
	f.get(stepPlan(f, "s3")).want(http.StatusOK, "Ledger in cents", "prompt 1", "Deposits must be checked", "Take back 1 chosen step")
	from := f.checkpointOf("before the agent")
	f.get(f.at("plan", "do", "revert", "from", from, "to", from)).want(http.StatusOK, "changes since", "up to", "before the agent")
	f.confirm(f.get(f.at("plan", "do", "session", "session", "ses_4f1c", "message", "m3"))).want(http.StatusSeeOther)
	f.get(f.at("plan", "do", "undo")).want(http.StatusOK, "to before: Add a script")
	f.get(f.at("plan", "do", "unrevert", "session", "ses_4f1c")).want(http.StatusOK, "Ledger in cents")
	f.get(f.at("")).want(http.StatusOK, "Prompt 1<", "Prompt 2<", "to before: Add a script")
	f.get(f.at("plan", "do", "session", "session", "ses_4f1c", "message", "nope")).want(http.StatusNotFound)
	f.get(f.at("plan", "do", "redo")).want(http.StatusOK, "There is nothing to redo").lacks("Files that were changed since", "<summary>Ids")
	f.get(f.at("plan", "do", "undo", "without", "a", "path", "b")).want(http.StatusBadRequest)
	f.post(f.at("choose", "do", "undo"), url.Values{"files": {"2"}, "file": {"f" + hash("nope")}}).want(http.StatusBadRequest)
	if _, err := f.sessions.Begin(t.Context(), session.SessionBegin{ID: "child", Parent: "ses_4f1c", Title: "Look for callers"}); err != nil {
		t.Fatal(err)
	}
	f.get(f.at("session", "id", "ses_4f1c")).want(http.StatusOK, ">Look for callers</a>")
	f.get(f.at("session", "id", "child")).want(http.StatusOK, ">Ledger in cents</a>").lacks(">ses_4f1c<")
}

// TestUndoPassesOperationsOfGit: a preview of an undo is about the operation that the undo takes back.
// One that moved only the git repository is none, because the page leaves git alone.
func TestUndoPassesOperationsOfGit(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	f := newFixture(t)
	o := gittest.NewOracle(t)
	o.Init(f.root)
	f.write("a", "one\n")
	o.Commit(f.root, "one")
	f.track("old")
	f.write("a", "two\n")
	f.track("new")
	if _, err := f.repo.Restore(t.Context(), f.checkpointOf("old"), cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	before := f.track("with a branch less")
	o.In(f.root, "branch", "topic")
	plan, err := f.repo.RestoreGit(t.Context(), before, cairn.GitRestoreOptions{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	res, err := f.repo.RestoreGit(t.Context(), before, cairn.GitRestoreOptions{Plan: plan.PlanID})
	if err != nil || res.Operation == "" {
		t.Fatalf("%+v, %v", res, err)
	}
	f.get(f.at("plan", "do", "undo")).want(http.StatusOK, "name=hunk").lacks(res.Operation)
}
