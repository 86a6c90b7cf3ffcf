package webui

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// besides adds a project with the files that the first one has now, changes it, and returns its id.
func (f *fixture) besides() string {
	f.t.Helper()
	f.write("shared.txt", numbered(60))
	f.write("moves.txt", numbered(30)+"moves\n")
	f.track("before the copy")
	root := filepath.Join(f.t.TempDir(), "the other <one>")
	if err := os.CopyFS(root, os.DirFS(f.root)); err != nil {
		f.t.Fatal(err)
	}
	repo, err := cairn.Open(cairn.Options{Root: root, DataDir: f.t.TempDir(), NoSync: true})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { repo.Close() })
	if _, err := repo.Track(f.t.Context(), cairn.TrackOptions{}); err != nil {
		f.t.Fatal(err)
	}
	f.others = append(f.others, repo)
	there := func(name, text string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
	there("shared.txt", strings.NewReplacer("line 20\n", "twenty there\n", "line 40\n", "forty there\n").Replace(numbered(60)))
	there("made.txt", "made\n")
	if err := os.Rename(filepath.Join(root, "moves.txt"), filepath.Join(root, "moved.txt")); err != nil {
		f.t.Fatal(err)
	}
	f.write("shared.txt", strings.Replace(numbered(60), "line 1\n", "one here\n", 1))
	return cairn.ProjectID(repo.Root())
}

// merging sends the form of a source with some fields, and follows it to the plan.
func (f *fixture) merging(page *answer, fields url.Values) *answer {
	f.t.Helper()
	form := regexp.MustCompile(`(?s)<form id="merge0" class="choosing" method="get" action="([^"]+)">(.*?)</form>`).FindStringSubmatch(page.body)
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

// TestCompareAndMerge: the page lists what another directory changed. Chosen changes and files, or
// all, come in after a preview.
func TestCompareAndMerge(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.get(f.at("compare")).want(http.StatusOK, "There is no other directory here")
	other := f.besides()
	f.get(f.at("changes", "from", "@")).want(http.StatusOK, "Compare with other directories")
	f.get(f.at("compare")).want(http.StatusOK, "the other &lt;one&gt;", `value="`+other+`"`)
	page := f.get(f.at("compare", "dir", other)).want(http.StatusOK, "3 files", "here, too: merges", "moves.txt → ", "twenty there</span>", "made.txt", "renamed from moves.txt").lacks("here, too: conflicts")

	boxes := regexp.MustCompile(`name="hunk" value="([0-9a-f]{12})" form="merge0"> ([^<]*)<`).FindAllStringSubmatch(page.body, -1)
	if len(boxes) != 4 {
		t.Fatalf("%d changes can be chosen: %q", len(boxes), boxes)
	}
	f.merging(page, url.Values{}).want(http.StatusBadRequest, "Nothing is chosen")
	f.merging(page, url.Values{"file": {"f0000"}}).want(http.StatusBadRequest)
	second := boxes[len(boxes)-1][1]
	plan := f.merging(page, url.Values{"hunk": {second}, "file": {"f" + hash("made.txt")}}).want(http.StatusOK, "Merge 2 chosen changes", ">forty there<", "made.txt", "the other &lt;one&gt;").lacks(">twenty there<", "moved.txt", "Files that were changed since")
	done := f.confirm(plan).want(http.StatusSeeOther)
	f.get(done.header.Get("Location")).want(http.StatusOK, "Done.", "Merge")
	if got, want := f.read("shared.txt"), strings.NewReplacer("line 1\n", "one here\n", "line 40\n", "forty there\n").Replace(numbered(60)); got != want || f.read("made.txt") != "made\n" {
		t.Errorf("shared.txt is %q", got)
	}
	f.confirm(f.get(f.at("plan", "do", "undo"))).want(http.StatusSeeOther)

	plan = f.merging(page, url.Values{"file": {"f" + hash("moved.txt")}}).want(http.StatusOK, "Merge 1 path", "moved.txt").lacks("made.txt")
	f.confirm(plan).want(http.StatusSeeOther)
	if _, err := os.Lstat(filepath.Join(f.root, "moves.txt")); err == nil || f.read("moved.txt") != numbered(30)+"moves\n" {
		t.Error("the move did not come as a whole")
	}
	all := f.get(f.at("plan", "do", "merge", "dir", other)).want(http.StatusOK, "Merge what changed there", ">twenty there<")
	f.write("shared.txt", "in between\n")
	f.confirm(all).want(http.StatusConflict, "The disk has changed since the preview")
	if again := f.get(f.at("plan", "do", "merge", "dir", other)).want(http.StatusOK, "Conflicts", "changed here and there, and the changes overlap"); strings.Contains(again.body, "Nothing would change") {
		t.Error("the made file is missing")
	}

	f.get(f.at("plan", "do", "merge")).want(http.StatusBadRequest)
	f.get(f.at("plan", "do", "merge", "dir", "0123456789abcdef")).want(http.StatusNotFound)
	f.get(f.at("compare", "dir", "0123456789abcdef")).want(http.StatusNotFound)
	f.get(f.at("compare", "at", "@")).want(http.StatusOK, "Compare directories")
}
