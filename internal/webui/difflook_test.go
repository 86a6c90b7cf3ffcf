package webui

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// numbered is a text of so many lines.
func numbered(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "line %d\n", i+1)
	}
	return out.String()
}

// Unchanged lines open from above, from below, or all, by links alone.
func TestUnchangedLinesOpen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a.txt", numbered(200))
	from := f.track("")
	f.write("a.txt", strings.NewReplacer("line 50\n", "fifty\n", "line 150\n", "hundred fifty\n").Replace(numbered(200)))
	to := f.track("")
	page := f.get(f.at("changes", "from", from, "to", to)).want(http.StatusOK, "46 unchanged lines", "93 unchanged lines", "47 unchanged lines").lacks(">line 70<")
	links := make(map[string]string)
	for _, m := range regexp.MustCompile(`data-open href="([^"]+)">([^<]+)<`).FindAllStringSubmatch(page.body, -1) {
		address := html.UnescapeString(m[1])
		links[queryOf(t, address).Get("open")+" "+m[2]] = address
	}
	below := f.get(links["53-73 ↓ next 20"]).want(http.StatusOK, ">line 70<", "73 unchanged lines").lacks(">line 80<")
	f.get(links["126-146 ↑ last 20"]).want(http.StatusOK, ">line 140<", "73 unchanged lines").lacks(">line 70<")
	f.get(links["53-146 show all"]).want(http.StatusOK, ">line 100<").lacks("93 unchanged", "73 unchanged")
	again := regexp.MustCompile(`href="([^"]+)">↓ next 20`).FindAllStringSubmatch(below.body, -1)
	if len(again) != 2 {
		t.Fatalf("%d links open lines from above", len(again))
	}
	f.get(html.UnescapeString(again[0][1])).want(http.StatusOK, ">line 70<", ">line 90<", "53 unchanged lines")
	f.get(links["53-146 show all"]+"&part=lines").want(http.StatusOK, ">line 100<").lacks("<h1>")
	for _, bad := range []string{"-", "5-1", "0-999999", "a-b", "-1-5"} {
		f.get(f.at("changes", "from", from, "to", to, "file", "a.txt", "open", bad)).want(http.StatusOK, "fifty")
	}
}

// Blanks count or do not, in the lines and in the numbers.
func TestBlanksDoNotCount(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a.txt", "if x {\nfoo()\n}\n")
	from := f.track("")
	f.write("a.txt", "if x {\n\tfoo()\n}\nbar()\n")
	to := f.track("")
	f.get(f.at("changes", "from", from, "to", to)).want(http.StatusOK, ">+2</span>", "Ignore blanks")
	f.get(f.at("changes", "from", from, "to", to, "space", "ignore")).want(http.StatusOK, ">+1</span>", "Count blanks").lacks(">+2</span>", "class=d")
}

func TestRenamesAreShown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("old/name.txt", numbered(40))
	from := f.track("")
	f.remove("old/name.txt")
	f.write("new/name.txt", strings.Replace(numbered(40), "line 7\n", "seven\n", 1))
	to := f.track("")
	page := f.get(f.at("changes", "from", from, "to", to)).want(http.StatusOK, "1 file changed", "old/name.txt → ", "renamed,", ">+1</span>", "seven")
	take := regexp.MustCompile(`href="([^"]+)">Take back this file`).FindStringSubmatch(page.body)
	f.confirm(f.get(html.UnescapeString(take[1])).want(http.StatusOK, "create", "delete")).want(http.StatusSeeOther)
	if f.read("old/name.txt") != numbered(40) {
		t.Error("the rename did not go back")
	}
	f.get(f.at("changes", "from", from, "to", to, "file", "new/name.txt")).want(http.StatusOK, "renamed,").lacks(">+40</span>")
}

// The numbers are those of all files, not only of the listed ones.
func TestV65_TotalsAreWhole(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1\n")
	from := f.track("")
	for i := range listedFiles + 10 {
		f.write(fmt.Sprintf("f%04d", i), fmt.Sprint(i, "\n"))
	}
	to := f.track("")
	f.get(f.at("changes", "from", from, "to", to)).want(http.StatusOK, "510 files changed", "+510", "500 are listed here")
	f.get(f.at("changes", "from", from, "to", to, "skip", "500")).want(http.StatusOK, "510 files changed", "+510", "10 are listed here")
}

func TestChangedWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		old, new   string
		gone, came []string
	}{
		{"return a + b", "return a - b", []string{"+"}, []string{"-"}},
		{"f(one, two, three)", "f(1, two, 3)", []string{"one", "three"}, []string{"1", "3"}},
		{"total := größe + y", "total := grüße + z", []string{"größe", "y"}, []string{"grüße", "z"}},
		{"keep these words", "keep these new words", nil, []string{"new "}},
		{"alpha", "omega", nil, nil},
		{"same", "same", nil, nil},
	} {
		cut := func(line string, spans []span) (out []string) {
			for _, s := range spans {
				out = append(out, line[s.from:s.to])
			}
			return out
		}
		o, n := changedWords([]byte(c.old), []byte(c.new))
		if diff := cmp.Diff([][]string{c.gone, c.came}, [][]string{cut(c.old, o), cut(c.new, n)}); diff != "" {
			t.Errorf("%q and %q: %s", c.old, c.new, diff)
		}
	}
}
