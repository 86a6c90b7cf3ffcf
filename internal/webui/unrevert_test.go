package webui

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/seed-fb9cbc17/cairn/session"
)

// revertedFiles has a session whose one turn changed three places of a file, another file and a new
// one, and was taken back.
func revertedFiles(t *testing.T) *fixture {
	f := newFixture(t)
	f.write("a.txt", numbered(60))
	f.write("b.txt", "b\n")
	f.track("")
	f.stepOf(session.StepBegin{Session: "s", Message: "m1", Step: "1", Prompt: "Count in words"}, func() {
		f.write("a.txt", changedLines(60, tens))
		f.write("b.txt", "B\n")
		f.write("new.txt", "new\n")
	})
	if _, _, err := f.sessions.Revert(t.Context(), "s", session.Target{Message: "m1"}, session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	return f
}

// Some files and changes of a revert are brought back. The session stays reverted.
func TestUnrevertOfSome(t *testing.T) {
	t.Parallel()
	f := revertedFiles(t)
	plan := f.get(f.at("plan", "do", "unrevert", "session", "s"))
	plan.want(http.StatusOK, "Bring back what was reverted", "name=hunk")
	fields := plan.ticked()
	if len(fields["file"]) != 3 || len(fields["hunk"]) != 5 {
		t.Fatalf("boxes %v", fields)
	}

	files := f.tickedIn(plan, "choose", "f"+hash("new.txt"))
	files.want(http.StatusOK, "Bring back 1 path", "stays reverted", "Preview all of it")
	f.confirm(files).want(http.StatusSeeOther)
	if f.read("new.txt") != "new\n" || f.read("a.txt") != numbered(60) || f.read("b.txt") != "b\n" {
		t.Errorf("a.txt is %q, b.txt %q", f.read("a.txt"), f.read("b.txt"))
	}

	plan = f.get(f.at("plan", "do", "unrevert", "session", "s"))
	fields = plan.ticked()
	fields["hunk"] = fields["hunk"][1:2]
	fields["file"] = []string{"f" + hash("a.txt")}
	some := f.send(plan, "choose", fields)
	some.want(http.StatusOK, "Bring back 1 chosen change")
	f.confirm(some).want(http.StatusSeeOther)
	if got := f.read("a.txt"); got != changedLines(60, "line 30\n,thirty\n") || f.read("b.txt") != "b\n" {
		t.Errorf("a.txt is %q", got)
	}
	f.confirm(f.get(f.at("plan", "do", "undo"))).want(http.StatusSeeOther)
	if got := f.read("a.txt"); got != numbered(60) {
		t.Errorf("undone a.txt is %q", got)
	}

	f.tickedIn(plan, "choose").want(http.StatusBadRequest)
	f.confirm(f.get(f.at("plan", "do", "unrevert", "session", "s"))).want(http.StatusSeeOther)
	if f.read("a.txt") != changedLines(60, tens) || f.read("b.txt") != "B\n" || f.read("new.txt") != "new\n" {
		t.Error("not everything is back")
	}
	f.get(f.at("plan", "do", "unrevert", "session", "s", "path", "a.txt")).want(http.StatusNotFound)
	f.get(f.at("plan", "do", "unrevert", "session", "s", "step", "1")).want(http.StatusBadRequest)
	f.post(f.at("choose", "do", "unrevert", "session", "s"), url.Values{"files": {"2"}, "file": {"f" + hash("a.txt")}}).want(http.StatusBadRequest)
}

// A person unticks a file and a change of another one, looks at the preview, and brings the rest back.
func testUnrevertBoxes(t *testing.T, b *browser) {
	f := revertedFiles(t)
	b.open(f.serve() + f.at("plan", "do", "unrevert", "session", "s"))
	b.eval("document.querySelectorAll('input[name=hunk]')[0].click()", nil)
	b.eval("document.querySelectorAll('input[name=file]')[2].click()", nil)
	if b.text("document.getElementById('confirm').disabled") != "true" {
		t.Error("the old preview can be confirmed")
	}
	if found := b.axe(); found != "[]" {
		t.Errorf("axe finds %s", found)
	}
	b.screenshot("unrevert-boxes")
	b.loading(func() { b.eval("document.querySelector('.choosing button').click()", nil) })
	if got := b.text("document.querySelector('h1').textContent"); got != "Bring back 3 chosen changes" {
		t.Fatalf("the preview is %q", got)
	}
	b.screenshot("unrevert-some")
	b.loading(func() { b.eval("document.getElementById('confirm').click()", nil) })
	b.until("document.body.textContent.includes('Done.')")
	if got := f.read("a.txt"); got != changedLines(60, "line 30\n,thirty\n,line 50\n,fifty\n") || f.read("b.txt") != "B\n" || f.isThere("new.txt") {
		t.Errorf("a.txt is %q, b.txt %q", got, f.read("b.txt"))
	}
}

// TestUnrevertTwice: a preview that is loaded again after another client has brought everything back says so.
func TestUnrevertTwice(t *testing.T) {
	t.Parallel()
	f := revertedFiles(t)
	address := f.at("plan", "do", "unrevert", "session", "s")
	f.get(address).want(http.StatusOK, "Bring back what was reverted")
	if _, _, err := f.sessions.Unrevert(t.Context(), "s", session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	f.get(address).want(http.StatusOK, "Nothing would change")
	f.get(address+"&git=1").want(http.StatusOK, "Nothing would change")
}
