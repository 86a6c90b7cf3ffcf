package cairn_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// move renames a path. The directory that it moves to is made.
func (f *fixture) move(from, to string) {
	f.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(to)), 0o755); err != nil {
		f.Fatal(err)
	}
	f.rename(from, to)
}

// TestMergeOfTakenPlaces: a path of a move is, on the other side or in the end, a directory, or below a file. Every
// change comes in or is a conflict, and a moved file stands at one of its two paths.
func TestMergeOfTakenPlaces(t *testing.T) {
	t.Parallel()
	text, other := countTo(20, nil), "other\n"+countTo(12, nil)
	const more = "more\n"
	for name, c := range map[string]struct {
		base        map[string]string
		there, here func(f *fixture)
		want        map[string]string // files
		conflicts   []string
	}{
		"a directory came to the old path there, deleted here": {
			map[string]string{"a": text},
			func(f *fixture) { f.move("a", "b"); f.write("a/new", more) },
			func(f *fixture) { f.remove("a") },
			map[string]string{"a/new": more}, []string{"b: deleted here, renamed there from a"},
		},
		"a directory came to the old path there, changed here": {
			map[string]string{"a": text},
			func(f *fixture) { f.write("a", text+"there\n"); f.move("a", "b"); f.write("a/new", more) },
			func(f *fixture) { f.write("a", text+"here\n") },
			map[string]string{"a": text + "here\n"}, []string{"a/new: something else stands there now: a", "a: changed here and there, and the changes overlap; renamed there to b"},
		},
		"a file came in place of the old directory there": {
			map[string]string{"a/x": text},
			func(f *fixture) { f.move("a/x", "b"); f.remove("a"); f.write("a", more) },
			func(f *fixture) { f.remove("a") },
			map[string]string{"a": more}, []string{"b: deleted here, renamed there from a/x"},
		},
		"moved here to a directory in which a file changed there": {
			map[string]string{"a": text, "d/x": other},
			func(f *fixture) { f.write("a", text+more); f.write("d/x", other+more) },
			func(f *fixture) { f.remove("d"); f.move("a", "d") },
			map[string]string{"d": text}, []string{"a: deleted here, changed there", "d/x: deleted here, changed there"},
		},
		"moved here to a directory that is as it was there": {
			map[string]string{"a": text, "d/x": other},
			func(f *fixture) { f.write("a", text+more) },
			func(f *fixture) { f.remove("d"); f.move("a", "d") },
			map[string]string{"d": text + more}, nil,
		},
		"moved here to a directory in which a file was made there": {
			map[string]string{"a": text, "d/x": other},
			func(f *fixture) { f.write("a", text+more); f.remove("d/x"); f.write("d/y", more) },
			func(f *fixture) { f.remove("d"); f.move("a", "d") },
			map[string]string{"d": text}, []string{"a: deleted here, changed there", "d/y: something else stands there now: d"},
		},
		"moved here to a directory of which a file went there": {
			map[string]string{"a": text, "d/x": other, "d/y": more},
			func(f *fixture) { f.write("a", text+more); f.remove("d/x") },
			func(f *fixture) { f.remove("d"); f.move("a", "d") },
			map[string]string{"d": text + more}, nil,
		},
		"moved here below a file that changed there": {
			map[string]string{"a": text, "p": other},
			func(f *fixture) { f.write("a", text+more); f.write("p", other+more) },
			func(f *fixture) { f.remove("p"); f.move("a", "p/a") },
			map[string]string{"p/a": text}, []string{"a: deleted here, changed there", "p/a: made here and there, with different contents", "p: deleted here, changed there"},
		},
		"moved there to a directory in which a file changed here": {
			map[string]string{"a": text, "d/x": other},
			func(f *fixture) { f.remove("d"); f.move("a", "d") },
			func(f *fixture) { f.write("d/x", other+more) },
			map[string]string{"a": text, "d/x": other + more},
			[]string{"a: the other half of a rename stays: d", "d/x: changed here, deleted there", "d: something else stands there now: d/x"},
		},
		"moved there to a directory in which a file was made here": {
			map[string]string{"a": text, "d/x": other},
			func(f *fixture) { f.remove("d"); f.move("a", "d") },
			func(f *fixture) { f.write("d/new", more) },
			map[string]string{"a": text, "d/new": more},
			[]string{"a: the other half of a rename stays: d", "d/new: made here and there, with different contents", "d: something else stands there now: d/new"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"stays": gittest.File("s\n")})
			for path, text := range c.base {
				f.write(path, text)
			}
			f.track()
			g := f.copied(t)
			c.here(f)
			c.there(g)
			before := f.manifest()
			res := f.merge(g, cairn.MergeOptions{})
			got := reasonsOf(res.Conflicts)
			slices.Sort(got)
			if !slices.Equal(got, c.conflicts) {
				t.Errorf("conflicts\n%q, want\n%q", got, c.conflicts)
			}
			if got := f.files(f.track().Hash); len(got) != len(c.want)+1 {
				t.Errorf("files %q", got)
			}
			for path, want := range c.want {
				if got := f.read(path); got != want {
					t.Errorf("%s:\n%s", path, got)
				}
			}
			if res.Operation != "" {
				f.undo(cairn.RevertOptions{})
			}
			gittest.AssertEqual(t, "the directory", before, f.manifest())
		})
	}
}

// TestMergeOfAMovedLink: a link that moved there and leads elsewhere here comes to the new place with the change.
func TestMergeOfAMovedLink(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"old": gittest.Link("one"), "stays": gittest.File("s\n")})
	f.track()
	g := f.copied(t)
	f.remove("old")
	gittest.Create(t, f.root, gittest.Tree{"old": gittest.Link("two")})
	g.move("old", "new")
	res := f.merge(g, cairn.MergeOptions{})
	if target, _ := os.Readlink(f.path("new")); !res.Complete() || target != "two" || f.exists("old") {
		t.Errorf("%+v: new leads to %q", res, target)
	}
}

// TestCompareFindsTakenPlaces: a move to where the other side made a file is a conflict, as in the merge, and so is a
// move of a file that the other side deleted.
func TestCompareFindsTakenPlaces(t *testing.T) {
	t.Parallel()
	text := countTo(20, nil)
	move := func(f *fixture) { f.move("a", "b") }
	gone := func(f *fixture) { f.remove("a") }
	made := func(f *fixture) { f.write("a", text+"more\n"); f.write("b", "made\n") }
	for name, c := range map[string]struct {
		here, there func(f *fixture)
		want        []string
	}{
		"moved there": {made, move, []string{"R a -> b  (here conflicts)"}},
		"moved here":  {move, made, []string{"M a  +1 -0  (here conflicts)", "A b  +1 -0  (here conflicts)"}},
		"both alike":  {move, move, []string{"R a -> b  (here same)"}},
		"gone there":  {move, gone, []string{"D a  +0 -20  (here conflicts)"}},
		"gone here":   {gone, move, []string{"R a -> b  (here conflicts)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File(text)})
			f.track()
			g := f.copied(t)
			c.here(f)
			c.there(g)
			all, err := f.repo().Compare(background, []cairn.MergeSource{{Repo: g.repo()}}, cairn.CompareOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range all.Sources[0].Files {
				got = append(got, all.Sources[0].Files[i].Line(all.Root))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if res := f.merge(g, cairn.MergeOptions{}); res.Operation != "" || res.Complete() != strings.HasSuffix(got[0], " same)") {
				t.Errorf("%+v", res)
			}
		})
	}
}
