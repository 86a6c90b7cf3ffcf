package cairn_test

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestMergeFollowsRenames(t *testing.T) {
	t.Parallel()
	text, here, there := countTo(30, nil), countTo(30, map[int]string{3: "here\n"}), countTo(30, map[int]string{28: "there\n"})
	both := countTo(30, map[int]string{3: "here\n", 28: "there\n"})
	move := func(f *fixture, to, content string) {
		f.remove("old")
		f.write(to, content)
	}
	for name, c := range map[string]struct {
		here, there func(f *fixture)
		want        map[string]string // all files
		conflicts   []string
	}{
		"moved there, changed here":  {func(f *fixture) { f.write("old", here) }, func(f *fixture) { move(f, "new", there) }, map[string]string{"new": both}, nil},
		"moved here, changed there":  {func(f *fixture) { move(f, "new", here) }, func(f *fixture) { f.write("old", there) }, map[string]string{"new": both}, nil},
		"moved to the same place":    {func(f *fixture) { move(f, "new", here) }, func(f *fixture) { move(f, "new", there) }, map[string]string{"new": both}, nil},
		"moved into a new directory": {func(f *fixture) { f.write("old", here) }, func(f *fixture) { move(f, "d/e/new", text) }, map[string]string{"d/e/new": here}, nil},
		"moved to two places": {
			func(f *fixture) { move(f, "new", here) }, func(f *fixture) { move(f, "newer", there) },
			map[string]string{"new": here}, []string{"newer: renamed here from old to new"},
		},
		"moved there, deleted here": {
			func(f *fixture) { f.remove("old") }, func(f *fixture) { move(f, "new", there) }, map[string]string{}, []string{"new: deleted here, renamed there from old"},
		},
		"moved here, deleted there": {
			func(f *fixture) { move(f, "new", here) }, func(f *fixture) { f.remove("old") }, map[string]string{"new": here}, []string{"new: renamed here from old, deleted there"},
		},
		"moved there, and the changes overlap": {
			func(f *fixture) { f.write("old", countTo(30, map[int]string{3: "x\n"})) }, func(f *fixture) { move(f, "new", here) },
			map[string]string{"old": countTo(30, map[int]string{3: "x\n"})},
			[]string{"old: changed here and there, and the changes overlap; renamed there to new"},
		},
		"moved there to where a file was made here": {
			func(f *fixture) { f.write("new", "n\n") }, func(f *fixture) { move(f, "new", there) },
			map[string]string{"old": text, "new": "n\n"}, []string{"new: made here and there, with different contents", "old: the other half of a rename stays: new"},
		},
		"moved here to where a file was made there": {
			func(f *fixture) { move(f, "new", here) }, func(f *fixture) { f.write("old", there); f.write("new", "n\n") },
			map[string]string{"new": here}, []string{"new: made here and there, with different contents", "old: deleted here, changed there"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"old": gittest.File(text), "stays": gittest.File("s\n")})
			f.track()
			g := f.copied(t)
			c.here(f)
			c.there(g)
			before := f.manifest()
			for _, dry := range []bool{true, false} {
				res := f.merge(g, cairn.MergeOptions{DryRun: dry})
				assertConflicts(t, res, c.conflicts...)
				if dry {
					gittest.AssertEqual(t, "the directory", before, f.manifest())
				}
			}
			c.want["stays"] = "s\n"
			if got := f.files(f.track().Hash); len(got) != len(c.want) {
				t.Errorf("files %q", got)
			}
			for path, want := range c.want {
				if got := f.read(path); got != want {
					t.Errorf("%s:\n%s", path, got)
				}
			}
		})
	}
}

// TestMergeOfHunks brings in some places of what changed there: of a text, of a moved file with or
// without its move, of bits, and of what has no lines.
func TestMergeOfHunks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		"a": gittest.File(countTo(30, nil)), "old": gittest.File(countTo(31, nil)), "mode": gittest.File(countTo(10, nil)), "binary": gittest.File("b\x00"),
	})
	f.track()
	g := f.copied(t)
	f.write("a", countTo(30, map[int]string{1: "one here\n"}))
	g.write("a", countTo(30, map[int]string{10: "ten there\n", 20: "twenty there\n", 30: ""}))
	g.remove("old")
	g.write("new", countTo(31, map[int]string{5: "five there\n", 25: "twenty-five there\n"}))
	g.write("mode", countTo(10, map[int]string{5: "five there\n"}))
	os.Chmod(g.path("mode"), 0o755)
	g.write("binary", "c\x00")
	g.write("made", "made\n")
	all, err := f.repo().Compare(background, []cairn.MergeSource{{Repo: g.repo()}}, cairn.CompareOptions{Hunks: true})
	if err != nil {
		t.Fatal(err)
	}
	names, headers := make(map[string][]string), make(map[string]string)
	for _, file := range all.Sources[0].Files {
		for _, h := range file.Hunks {
			names[string(file.File)] = append(names[string(file.File)], h.ID)
			headers[h.ID] = h.Header
		}
	}
	if len(names["a"]) != 3 || len(names["new"]) != 3 || len(names["mode"]) != 2 || len(names["binary"]) != 1 || len(names["made"]) != 1 || headers[names["new"][0]] != "renamed from old" {
		t.Fatalf("%v %v", names, headers)
	}
	before := f.manifest()
	for what, c := range map[string]struct {
		hunks []string
		want  map[string]string // differing from before; "" = gone
	}{
		"one of three":             {names["a"][1:2], map[string]string{"a": countTo(30, map[int]string{1: "one here\n", 20: "twenty there\n"})}},
		"a beginning of a name":    {[]string{names["a"][2][:6]}, map[string]string{"a": countTo(30, map[int]string{1: "one here\n", 30: ""})}},
		"the move alone":           {names["new"][:1], map[string]string{"old": "", "new": countTo(31, nil)}},
		"the move and a line":      {[]string{names["new"][0], names["new"][2]}, map[string]string{"old": "", "new": countTo(31, map[int]string{25: "twenty-five there\n"})}},
		"a line without the move":  {names["new"][1:2], map[string]string{"old": countTo(31, map[int]string{5: "five there\n"})}},
		"a line without the bits":  {names["mode"][1:], map[string]string{"mode": countTo(10, map[int]string{5: "five there\n"})}},
		"a file without lines":     {names["binary"], map[string]string{"binary": "c\x00"}},
		"a new file and a line":    {[]string{names["made"][0], names["a"][0]}, map[string]string{"made": "made\n", "a": countTo(30, map[int]string{1: "one here\n", 10: "ten there\n"})}},
		"the bits without a line":  {names["mode"][:1], map[string]string{}},
		"everything, by its hunks": {names["new"], map[string]string{"old": "", "new": countTo(31, map[int]string{5: "five there\n", 25: "twenty-five there\n"})}},
	} {
		res := f.merge(g, cairn.MergeOptions{Hunks: c.hunks})
		if !res.Complete() || res.Operation == "" {
			t.Errorf("%s: %+v", what, res)
		}
		for _, path := range []string{"a", "old", "new", "mode", "binary", "made"} {
			want, changed := c.want[path]
			_, was := before[path]
			switch {
			case changed && want == "" || !changed && !was:
				if f.exists(path) {
					t.Errorf("%s: %s is there", what, path)
				}
			case changed && f.read(path) != want:
				t.Errorf("%s: %s is\n%s", what, path, f.read(path))
			case !changed && path != "mode" && f.manifest()[path].String() != before[path].String():
				t.Errorf("%s: %s has changed", what, path)
			}
		}
		if info, err := os.Stat(f.path("mode")); err != nil || (info.Mode().Perm() == 0o755) != (what == "the bits without a line") {
			t.Errorf("%s: %v, %v", what, info.Mode(), err)
		}
		if _, err := f.repo().Undo(background, cairn.RevertOptions{}); err != nil {
			t.Fatal(err)
		}
		gittest.AssertEqual(t, what+", undone", before, f.manifest())
	}
	if res := f.merge(g, cairn.MergeOptions{}); res.Base != all.Sources[0].Base || len(res.Restored) != 5 {
		t.Errorf("merged hunks do not stand for the whole: %+v", res)
	}
}

// TestMergeOfHunksFollowsRenames: the chosen parts of a moved file meet what was done to it here.
func TestMergeOfHunksFollowsRenames(t *testing.T) {
	t.Parallel()
	here, there := countTo(30, map[int]string{3: "here\n"}), countTo(30, map[int]string{28: "there\n"})
	for name, c := range map[string]struct {
		here      func(f *fixture)
		want      string
		conflicts []string
	}{
		"changed here":           {func(f *fixture) { f.write("old", here) }, countTo(30, map[int]string{3: "here\n", 28: "there\n"}), nil},
		"moved to another place": {func(f *fixture) { f.remove("old"); f.write("newer", here) }, "", []string{"new: renamed here from old to newer"}},
		"deleted here":           {func(f *fixture) { f.remove("old") }, "", []string{"new: deleted here, renamed there from old"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"old": gittest.File(countTo(30, nil)), "other": gittest.File("o\n")})
			f.track()
			g := f.copied(t)
			c.here(f)
			g.remove("old")
			g.write("new", there)
			g.write("other", "not chosen\n")
			all, err := f.repo().Compare(background, []cairn.MergeSource{{Repo: g.repo()}}, cairn.CompareOptions{Hunks: true})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, file := range all.Sources[0].Files {
				for _, h := range file.Hunks {
					if string(file.File) == "new" {
						names = append(names, h.ID)
					}
				}
			}
			assertConflicts(t, f.merge(g, cairn.MergeOptions{Hunks: names}), c.conflicts...)
			if c.want != "" && f.read("new") != c.want || f.read("other") != "o\n" {
				t.Errorf("new:\n%s\nother: %s", f.read("new"), f.read("other"))
			}
		})
	}
}
