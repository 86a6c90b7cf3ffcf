package webui

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var hunkBox = regexp.MustCompile(`name=hunk value="([0-9a-f]{12})" form=choose`)

// chosenFrom sends the form of choices with some fields, and follows it to the plan.
func (f *fixture) chosenFrom(page *answer, fields url.Values) *answer {
	f.t.Helper()
	form := regexp.MustCompile(`(?s)<form id="choose" class="choosing" method="get" action="([^"]+)">(.*?)</form>`).FindStringSubmatch(page.body)
	if form == nil {
		f.t.Fatalf("the page has no choice:\n%s", page.body)
	}
	for _, m := range regexp.MustCompile(`type="hidden" name="([^"]+)" value="([^"]*)"`).FindAllStringSubmatch(form[2], -1) {
		fields.Add(m[1], html.UnescapeString(m[2]))
	}
	a := f.get(html.UnescapeString(form[1]) + "?" + fields.Encode())
	if a.status == http.StatusSeeOther {
		return f.get(a.header.Get("Location"))
	}
	return a
}

// Single changes and whole files go back in one operation, after a preview of what happens on disk.
func TestChosenChangesGoBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a.txt", numbered(60))
	f.write("b.txt", "b\n")
	f.write("c.txt", "c\n")
	from := f.track("")
	f.write("a.txt", strings.NewReplacer("line 10\n", "ten\n", "line 30\n", "thirty\n").Replace(numbered(60)))
	f.write("b.txt", "B\n")
	f.write("c.txt", "C\n")
	to := f.track("")
	f.write("a.txt", strings.NewReplacer("line 10\n", "ten\n", "line 30\n", "thirty\n", "line 50\n", "by hand\n").Replace(numbered(60)))
	page := f.get(f.at("changes", "from", from, "to", to)).want(http.StatusOK, "choose the whole file")
	hunks := hunkBox.FindAllStringSubmatch(page.body, -1)
	if len(hunks) != 4 {
		t.Fatalf("%d changes can be chosen", len(hunks))
	}
	f.chosenFrom(page, url.Values{}).want(http.StatusBadRequest, "Nothing is chosen")
	many := make([]string, maxHunks+1)
	for i := range many {
		many[i] = fmt.Sprintf("%012x", i)
	}
	f.chosenFrom(page, url.Values{"hunk": many}).want(http.StatusBadRequest, "Too many are ticked")
	plan := f.chosenFrom(page, url.Values{"hunk": {hunks[1][1]}, "file": {"f" + hash("b.txt")}}).want(http.StatusOK, "Take back 2 chosen changes", "What happens in the files", ">line 30<", ">thirty<").lacks(">ten<", "c.txt")
	source := html.UnescapeString(regexp.MustCompile(`href="([^"]+)">Choose single changes`).FindStringSubmatch(plan.body)[1])
	if again := f.get(source).want(http.StatusOK); strings.Count(again.body, "form=choose checked") != 2 {
		t.Error("the choice is not shown again")
	}
	done := f.confirm(plan).want(http.StatusSeeOther)
	if got, want := f.read("a.txt"), strings.NewReplacer("line 10\n", "ten\n", "line 50\n", "by hand\n").Replace(numbered(60)); got != want || f.read("b.txt") != "b\n" || f.read("c.txt") != "C\n" {
		t.Errorf("a.txt is %q, b.txt %q, c.txt %q", got, f.read("b.txt"), f.read("c.txt"))
	}
	f.get(done.header.Get("Location")).want(http.StatusOK, "Done.", "Undo …")
	f.confirm(f.get(f.at("plan", "do", "undo"))).want(http.StatusSeeOther)
	if f.read("b.txt") != "B\n" || !strings.Contains(f.read("a.txt"), "thirty") {
		t.Error("the undo did not bring the chosen changes back")
	}
}

// The files of a plan can be chosen, names of any bytes included.
func TestChosenFilesOfPlans(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	name := "caf\xe9.txt"
	f.write(name, "1\n")
	f.write("b", "1\n")
	from := f.track("")
	f.write(name, "2\n")
	f.write("b", "2\n")
	f.track("")
	plan := f.get(f.at("plan", "do", "restore", "to", from)).want(http.StatusOK, `aria-label="Take caf\xe9.txt"`, ">2<", ">1<")
	one := f.tickedIn(plan, "choose", "f"+hash(name)).want(http.StatusOK, "Restore 1 path")
	f.confirm(one).want(http.StatusSeeOther)
	if f.read(name) != "1\n" || f.read("b") != "2\n" {
		t.Error("not exactly the chosen file went back")
	}
	all := f.tickedIn(f.get(f.at("plan", "do", "undo")), "choose", "f"+hash(name)).want(http.StatusOK, "Undo exactly this")
	f.confirm(all).want(http.StatusSeeOther)
	if f.read(name) != "2\n" {
		t.Error("the undo of all files did nothing")
	}
	f.tickedIn(plan, "choose", "fnope").want(http.StatusBadRequest)
	f.get(f.at("plan", "do", "restore", "to", from, "show", "b", "part", "lines")).want(http.StatusOK, ">2<").lacks("<h1>")
}

// Changes since the last checkpoint can be chosen, too, and conflicts are said in words.
func TestChosenChangesOnDisk(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a.txt", numbered(30))
	from := f.track("")
	f.write("a.txt", strings.NewReplacer("line 10\n", "ten\n", "line 20\n", "twenty\n").Replace(numbered(30)))
	page := f.get(f.at("changes", "from", "@")).want(http.StatusOK)
	hunks := hunkBox.FindAllStringSubmatch(page.body, -1)
	f.confirm(f.chosenFrom(page, url.Values{"hunk": {hunks[0][1]}})).want(http.StatusSeeOther)
	if got := f.read("a.txt"); got != strings.Replace(numbered(30), "line 20\n", "twenty\n", 1) {
		t.Errorf("the file is %q", got)
	}
	to := f.track("")
	f.write("a.txt", strings.Replace(numbered(30), "line 20\n", "XX\n", 1))
	page = f.get(f.at("changes", "from", from, "to", to))
	f.chosenFrom(page, url.Values{"hunk": {hunkBox.FindStringSubmatch(page.body)[1]}}).want(http.StatusOK, "Conflicts", "changed since")
	f.get(f.at("plan", "do", "revert", "from", from, "to", to, "hunk", "000000000000")).want(http.StatusNotFound)
	f.get(f.at("plan", "do", "undo", "hunk", "000000000000")).want(http.StatusBadRequest)
}
