package webui

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// besideFixture is a project whose one turn changed a file in it and two files outside.
type besideFixture struct {
	*fixture
	edited, made string // outside
}

func newBeside(t *testing.T) *besideFixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &besideFixture{newFixture(t), filepath.Join(dir, "edited.conf"), filepath.Join(dir, "made.conf")}
	f.write("a.txt", "a\n")
	f.put(f.edited, "old\n")
	f.track("")
	f.stepOf(session.StepBegin{Session: "s", Message: "m1", Step: "1", Prompt: "Set it up", Paths: []string{f.edited, f.made}}, func() {
		f.write("a.txt", "A\n")
		f.put(f.edited, "new\n")
		f.put(f.made, "made\n")
	})
	return f
}

func (f *besideFixture) put(path, text string) {
	f.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// are compares the file of the project and those outside, "" for none.
func (f *besideFixture) are(what, inside, edited, made string) {
	f.t.Helper()
	text := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			f.t.Error(err)
		}
		return string(data)
	}
	if a, e, m := f.read("a.txt"), text(f.edited), text(f.made); a != inside || e != edited || m != made {
		f.t.Errorf("%s: inside %q, outside %q and %q", what, a, e, m)
	}
}

// TestOutsideOnPages: a preview lists the files outside and leaves them. Ticked, they go back with the turn, and
// come again with its undo, its redo and an unrevert.
func TestOutsideOnPages(t *testing.T) {
	t.Parallel()
	f := newBeside(t)
	turn := f.at("plan", "do", "session", "session", "s", "message", "m1")
	preview := f.get(turn).want(http.StatusOK, "Outside this directory", "They stay as they are unless this is ticked", "edited.conf", "made.conf")
	f.confirm(preview).want(http.StatusSeeOther)
	f.are("after a revert without", "a\n", "new\n", "made\n")
	f.confirm(f.get(f.at("plan", "do", "unrevert", "session", "s")).want(http.StatusOK)).want(http.StatusSeeOther)
	f.are("after that was brought back", "A\n", "new\n", "made\n")

	fields := f.get(turn).ticked()
	fields.Set("outside", "1")
	preview = f.send(f.get(turn), "apply", fields).want(http.StatusOK, "Bring these back, too", `form="choose" checked> Bring`)
	f.are("after other boxes than those of the plan", "A\n", "new\n", "made\n")
	done := f.confirm(preview).want(http.StatusSeeOther)
	f.get(done.header.Get("Location")).want(http.StatusOK, "Outside this directory", "edited.conf", "made.conf")
	f.are("after the revert", "a\n", "old\n", "")
	for _, c := range []struct{ do, inside, edited, made string }{{"undo", "A\n", "new\n", "made\n"}, {"redo", "a\n", "old\n", ""}, {"unrevert", "A\n", "new\n", "made\n"}} {
		preview := f.get(f.at("plan", "do", c.do, "session", "s")).want(http.StatusOK, "Outside this directory")
		fields := preview.ticked()
		fields.Set("outside", "1")
		f.confirm(f.send(preview, "choose", fields).want(http.StatusOK, "checked> Bring")).want(http.StatusSeeOther)
		f.are(c.do, c.inside, c.edited, c.made)
	}
}

// TestOutsideAloneOnPages: where a turn changed nothing in the directory, the preview still offers the files
// outside. A file that was changed since stays, and is named.
func TestOutsideAloneOnPages(t *testing.T) {
	t.Parallel()
	f := newBeside(t)
	f.write("a.txt", "a\n")
	f.put(f.made, "mine\n")
	preview := f.get(f.at("plan", "do", "session", "session", "s", "message", "m1")).want(http.StatusOK, "Nothing would change", "Outside this directory", "stays")
	fields := preview.ticked()
	fields.Set("outside", "1")
	f.confirm(f.send(preview, "choose", fields).want(http.StatusOK, "edited.conf", "made.conf")).want(http.StatusSeeOther)
	f.are("after the revert", "a\n", "old\n", "mine\n")
	f.get(f.at("plan", "do", "undo")).want(http.StatusOK, "There is nothing to undo", "Outside this directory", "edited.conf")
}

// TestOutsideStays: a part of the files goes back without those outside, and an address that wants both is
// refused.
func TestOutsideStays(t *testing.T) {
	t.Parallel()
	f := newBeside(t)
	f.write("b.txt", "b\n")
	f.stepOf(session.StepBegin{Session: "s", Message: "m2", Step: "2", Prompt: "More"}, func() { f.write("b.txt", "B\n") })
	preview := f.get(f.at("plan", "do", "session", "session", "s", "message", "m1", "outside", "1")).want(http.StatusOK, "checked> Bring")
	f.put(f.edited, "newer\n")
	f.confirm(preview).want(http.StatusConflict, "The disk has changed since the preview")
	f.put(f.edited, "new\n")
	f.tickedIn(preview, "choose", "f"+hash("b.txt")).want(http.StatusOK, "b.txt").lacks("checked> Bring", "Outside this directory")
	for _, bad := range [][]string{{"do", "restore", "to", "@"}, {"do", "revert", "from", "@~1", "to", "@"}, {"do", "undo", "path", "a.txt"}, {"do", "undo", "git", "1"}} {
		f.get(f.at("plan", append(bad, "outside", "1")...)).want(http.StatusBadRequest)
	}
	f.are("nothing is confirmed", "A\n", "new\n", "made\n")
}

// TestOperationInTwoDirectories: the preview lists what happens in both, and the page of the operation leads to
// its part in the other directory.
func TestOperationInTwoDirectories(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	lib := filepath.Join(filepath.Dir(f.root), "lib")
	if err := os.Mkdir(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	other, err := f.repo.Beside(lib)
	if err != nil {
		t.Fatal(err)
	}
	f.others = []*cairn.Repo{other}
	f.write("a.txt", "a\n")
	if _, err := f.sessions.Begin(t.Context(), session.SessionBegin{ID: "s", Further: []string{lib}}); err != nil {
		t.Fatal(err)
	}
	f.stepOf(session.StepBegin{Session: "s", Message: "m1", Step: "1", Prompt: "Both"}, func() {
		f.write("a.txt", "A\n")
		f.write("../lib/b.txt", "B\n")
	})
	preview := f.get(f.at("plan", "do", "session", "session", "s", "message", "m1")).want(http.StatusOK, "Also in "+lib, "b.txt", "a.txt")
	done := f.confirm(preview).want(http.StatusSeeOther)
	page := f.get(done.header.Get("Location")).want(http.StatusOK, "Also in other directories", lib, "1 path")
	there := f.get(page.link(lib)).want(http.StatusOK, "b.txt", f.root)
	if strings.Contains(there.body, ">a.txt<") || f.read("a.txt") != "a\n" {
		t.Errorf("a.txt is %q", f.read("a.txt"))
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	f.get(done.header.Get("Location")).want(http.StatusOK, "cannot be shown here")
	f.others = nil
	f.get(done.header.Get("Location")).want(http.StatusOK, "cannot be shown here")
}

// A person takes a turn back with the files outside by the box.
func testOutside(t *testing.T, b *browser) {
	f := newBeside(t)
	b.open(f.serve() + f.at("plan", "do", "session", "session", "s", "message", "m1"))
	b.screenshot("outside-stays")
	b.eval("document.querySelector('input[name=outside]').click()", nil)
	if b.text("document.getElementById('confirm').disabled") != "true" {
		t.Error("the old preview can be confirmed")
	}
	b.loading(func() { b.eval("document.querySelector('.choosing button').click()", nil) })
	if b.text("document.querySelector('input[name=outside]').checked") != "true" {
		t.Fatalf("the box is not ticked in %s", b.text("document.querySelector('main').textContent"))
	}
	if found := b.axe(); found != "[]" {
		t.Errorf("axe finds %s", found)
	}
	b.screenshot("outside-goes")
	b.loading(func() { b.eval("document.getElementById('confirm').click()", nil) })
	b.until("document.body.textContent.includes('Done.')")
	f.are("after the revert", "a\n", "old\n", "")
	b.until("document.body.textContent.includes('Outside this directory')")
}
