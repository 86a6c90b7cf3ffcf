package cairn_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// copied is a second fixture with a copy of the directory. Its store has the checkpoints of the first
// one, as that of a fork has.
func (f *fixture) copied(t *testing.T) *fixture {
	t.Helper()
	f.closeAll()
	dir := t.TempDir()
	g := &fixture{T: t, root: filepath.Join(dir, "root"), data: filepath.Join(dir, "data")}
	gittest.CopyTree(t, f.root, g.root)
	gittest.CopyTree(t, f.data, g.data)
	away := f.root + " away"
	if err := os.Rename(f.root, away); err != nil {
		t.Fatal(err)
	}
	if err := cairn.Adopt(background, g.data, f.root, g.root); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, f.root); err != nil {
		t.Fatal(err)
	}
	g.opt = f.opt
	g.opt.Root, g.opt.DataDir = g.root, g.data
	return g
}

// unrelated is a second fixture with a copy of the directory and a store of its own.
func (f *fixture) unrelated(t *testing.T) *fixture {
	t.Helper()
	g := newFixture(t, nil)
	g.opt.MaxFileSize = f.opt.MaxFileSize
	gittest.CopyTree(t, f.root, g.root)
	return g
}

func (f *fixture) merge(from *fixture, opt cairn.MergeOptions) *cairn.Result {
	f.Helper()
	res, err := f.repo().Merge(background, cairn.MergeSource{Repo: from.repo()}, opt)
	if err != nil {
		f.Fatal(err)
	}
	return res
}

func (f *fixture) mergeCheckpoint(spec string, opt cairn.MergeOptions) *cairn.Result {
	f.Helper()
	res, err := f.repo().Merge(background, cairn.MergeSource{Checkpoint: spec}, opt)
	if err != nil {
		f.Fatal(err)
	}
	return res
}

// reasonsOf lists paths with their reasons, "PATH: REASON".
func reasonsOf(list []cairn.PathReason) (out []string) {
	for _, p := range list {
		out = append(out, string(p.Path)+": "+p.Reason)
	}
	return out
}

func assertConflicts(t *testing.T, res *cairn.Result, want ...string) {
	t.Helper()
	if got := reasonsOf(res.Conflicts); !slices.Equal(got, want) {
		t.Errorf("conflicts\n%q, want\n%q", got, want)
	}
}

// mergeTree has a file for every way in which two sides can differ.
var mergeTree = gittest.Tree{
	"both": gittest.File(countTo(30, nil)), "clash": gittest.File(countTo(30, nil)), "here": gittest.File("h\n"), "there": gittest.File("t\n"),
	"gone here": gittest.File(countTo(9, nil)), "gone there": gittest.File(countTo(8, nil)), "gone": gittest.File("g\n"), "mode": gittest.File("m\n"),
	"link": gittest.Link("a"), "empty": gittest.Dir(), "dir/same": gittest.File("s\n"), "binary": gittest.File("b\x00\n"),
}

func editHere(f *fixture) {
	f.write("both", countTo(30, map[int]string{3: "three here\n"}))
	f.write("clash", countTo(30, map[int]string{15: "fifteen here\n"}))
	f.write("here", "h2\n")
	f.remove("gone here")
	f.write("gone there", countTo(8, map[int]string{2: "two here\n"}))
	f.write("made", "made here\n")
	f.write("same", "same\n")
	f.write("binary", "b\x00here\n")
}

func editThere(f *fixture) {
	f.write("both", countTo(30, map[int]string{28: "twenty-eight there\n"}))
	f.write("clash", countTo(30, map[int]string{15: "fifteen there\n"}))
	f.write("there", "t2\n")
	f.write("gone here", countTo(9, map[int]string{2: "two there\n"}))
	f.remove("gone there")
	f.remove("gone")
	os.Chmod(f.path("mode"), 0o755)
	f.remove("link")
	os.Symlink("b", f.path("link"))
	f.remove("empty")
	f.write("made", "made there\n")
	f.write("same", "same\n")
	f.write("new/deep", "new\n")
	f.write("binary", "b\x00there\n")
}

func TestMergeOfADirectory(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]func(*fixture, *testing.T) *fixture{"shared checkpoints": (*fixture).copied, "equal states": (*fixture).unrelated} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, mergeTree)
			common := f.track().Checkpoint
			g := second(f, t)
			g.track()
			editHere(f)
			editThere(g)
			before, there := f.manifest(), g.manifest()
			res := f.merge(g, cairn.MergeOptions{})
			assertConflicts(t, res, "binary: changed here and there, and not a text that could be merged",
				"clash: changed here and there, and the changes overlap", "gone here: deleted here, changed there",
				"gone there: changed here, deleted there", "made: made here and there, with different contents")
			if res.Base != common || len(res.Kept) > 0 {
				t.Errorf("base %s, want %s; kept %v", res.Base, common, res.Kept)
			}
			if got := f.read("both"); got != countTo(30, map[int]string{3: "three here\n", 28: "twenty-eight there\n"}) {
				t.Error(got)
			}
			for path, want := range map[string]string{"there": "t2\n", "here": "h2\n", "made": "made here\n", "new/deep": "new\n", "binary": "b\x00here\n"} {
				if got := f.read(path); got != want {
					t.Errorf("%s: %q", path, got)
				}
			}
			for _, path := range []string{"gone", "empty", "gone here"} {
				if f.exists(path) {
					t.Errorf("%s is still there", path)
				}
			}
			if target, _ := os.Readlink(f.path("link")); target != "b" {
				t.Error("link to", target)
			}
			if info, err := os.Stat(f.path("mode")); err != nil || info.Mode().Perm() != 0o755 {
				t.Error(info.Mode(), err)
			}
			gittest.AssertEqual(t, "the other directory", there, g.manifest())
			if _, err := f.repo().Undo(background, cairn.RevertOptions{}); err != nil {
				t.Fatal(err)
			}
			gittest.AssertEqual(t, "the directory", before, f.manifest())
			if _, err := f.repo().Redo(background, cairn.RevertOptions{}); err != nil {
				t.Fatal(err)
			}
			if f.read("there") != "t2\n" {
				t.Error("redo did not bring the merge back")
			}
		})
	}
}

// TestMergeTwice merges, works on there, and merges again: what came in before is common by then.
func TestMergeTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(countTo(30, nil))})
	f.track()
	g := f.copied(t)
	f.write("a", countTo(30, map[int]string{3: "here\n"}))
	g.write("a", countTo(30, map[int]string{28: "there\n"}))
	first := f.merge(g, cairn.MergeOptions{})
	if !first.Complete() || first.Operation == "" {
		t.Fatalf("%+v", first)
	}
	g.write("a", countTo(30, map[int]string{28: "there again\n"}))
	second := f.merge(g, cairn.MergeOptions{})
	if want := countTo(30, map[int]string{3: "here\n", 28: "there again\n"}); !second.Complete() || f.read("a") != want {
		t.Errorf("%+v\n%s", second, f.read("a"))
	}
	if second.Base == first.Base {
		t.Error("the second merge began at the beginning")
	}
	back := g.merge(f, cairn.MergeOptions{})
	if !back.Complete() || g.read("a") != f.read("a") {
		t.Errorf("%+v\n%s", back, g.read("a"))
	}
	if again := f.merge(g, cairn.MergeOptions{}); again.Operation != "" || !again.Complete() {
		t.Errorf("%+v", again)
	}
	if _, err := f.repo().Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	if third := f.merge(g, cairn.MergeOptions{}); !third.Complete() || f.read("a") != g.read("a") {
		t.Errorf("a merge that was taken back does not count: %+v\n%s", third, f.read("a"))
	}
}

// TestMergeOfACheckpoint brings work back that a restore has given up.
func TestMergeOfACheckpoint(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(countTo(30, nil)), "b": gittest.File("b\n")})
	base := f.track().Checkpoint
	f.write("a", countTo(30, map[int]string{3: "first try\n"}))
	f.write("b", "first try\n")
	try := f.track().Checkpoint
	if res := f.mergeCheckpoint(try, cairn.MergeOptions{}); res.Operation != "" || res.Base != try {
		t.Errorf("the state is that of the checkpoint: %+v", res)
	}
	f.restoreAll(base)
	f.write("a", countTo(30, map[int]string{28: "second try\n"}))
	f.track()
	res := f.mergeCheckpoint(try, cairn.MergeOptions{Paths: []string{f.path("a")}})
	if res.Base != base || !res.Complete() || f.read("b") != "b\n" || f.read("a") != countTo(30, map[int]string{3: "first try\n", 28: "second try\n"}) {
		t.Errorf("%+v\n%s", res, f.read("a"))
	}
	if res := f.mergeCheckpoint(try, cairn.MergeOptions{}); res.Base != base || !slices.Equal(res.Restored, []string{"b"}) {
		t.Errorf("a merge of some paths leaves the others to come: %+v", res)
	}
}

func TestMergeRefusals(t *testing.T) {
	t.Parallel()
	f, g := newFixture(t, gittest.Tree{"a": gittest.File("a\n")}), newFixture(t, gittest.Tree{"b": gittest.File("b\n")})
	base := f.track().Checkpoint
	r := f.repo()
	for _, c := range []struct {
		from cairn.MergeSource
		opt  cairn.MergeOptions
		want error
		text string
	}{
		{cairn.MergeSource{Repo: g.repo()}, cairn.MergeOptions{}, cairn.ErrNotFound, "--base"},
		{cairn.MergeSource{Repo: f.repo()}, cairn.MergeOptions{}, cairn.ErrRoot, "the directory itself"},
		{cairn.MergeSource{}, cairn.MergeOptions{}, cairn.ErrNotFound, "neither"},
		{cairn.MergeSource{Checkpoint: "0123456789"}, cairn.MergeOptions{}, cairn.ErrNotFound, "0123456789"},
		{cairn.MergeSource{Repo: g.repo()}, cairn.MergeOptions{Base: "0123456789"}, cairn.ErrNotFound, "0123456789"},
		{cairn.MergeSource{Repo: g.repo()}, cairn.MergeOptions{Base: base, Hunks: []string{"012345"}}, cairn.ErrNotFound, "cairn compare"},
		{cairn.MergeSource{Repo: g.repo()}, cairn.MergeOptions{Base: base, Plan: "0123456789abcdef"}, cairn.ErrMoved, "plan"},
		{cairn.MergeSource{Repo: g.repo()}, cairn.MergeOptions{Base: base, Paths: []string{g.root}}, cairn.ErrOutside, "root"},
	} {
		_, err := r.Merge(background, c.from, c.opt)
		assertError(t, err, c.want)
		if err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v does not name %q", err, c.text)
		}
	}
	if f.read("a") != "a\n" || f.exists("b") {
		t.Error("a refused merge has written")
	}
	f.merge(g, cairn.MergeOptions{Base: base})
	if f.exists("a") || !f.exists("b") {
		t.Error("a given base was not used")
	}
}

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

// TestMergeAgreesWithGit merges random edits and renames of two sides and compares the tree with that
// of git merge-tree.
func TestMergeAgreesWithGit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	o.NeedVersion(2, 38)
	clean := 0
	for seed := range uint64(gittest.Rounds(60)) {
		random := rand.New(rand.NewPCG(seed, 25))
		f := newFixture(t, randomProject(random, 12))
		base := f.track().Checkpoint
		editRandomly(f, random, 12)
		theirs := f.track().Checkpoint
		f.restoreAll(base)
		editRandomly(f, random, 12)
		ours := f.track()
		git := func(args ...string) string {
			return strings.TrimSpace(o.In(f.root, append([]string{"--git-dir", f.repo().StoreDir()}, args...)...))
		}
		root := git("commit-tree", "-m", "base", base+"^{tree}")
		side := func(spec string) string { return git("commit-tree", "-m", "side", "-p", root, spec+"^{tree}") }
		out, err := o.Try(f.root, "--git-dir", f.repo().StoreDir(), "-c", "merge.directoryRenames=false",
			"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", side(ours.Checkpoint), side(theirs))
		parts := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
		res := f.mergeCheckpoint(theirs, cairn.MergeOptions{})
		if (err == nil) != (len(res.Conflicts) == 0) || len(res.Kept) > 0 {
			t.Fatalf("seed %d: git %q (%v), cairn %+v", seed, parts, err, res)
		}
		after := f.track()
		if err == nil {
			clean++
			if after.Hash != parts[0] {
				t.Fatalf("seed %d: tree %s, want %s\n%s", seed, after.Hash, parts[0], git("diff", "-M", parts[0], after.Hash))
			}
			continue
		}
		// Conflicts stay as they are here, and every other path is as git has it.
		unclear := append(parts[1:], pathsOfReasons(res.Conflicts)...)
		for _, line := range strings.Split(git("diff", "--no-renames", "--name-only", parts[0], after.Hash), "\n") {
			if line != "" && !slices.ContainsFunc(unclear, func(path string) bool { return path == line || strings.HasPrefix(line, path+"~") }) {
				t.Fatalf("seed %d: %s differs from git's; conflicts of git %q, of cairn %q", seed, line, parts[1:], reasonsOf(res.Conflicts))
			}
		}
	}
	if clean == 0 {
		t.Error("no merge was clean")
	}
}

func pathsOfReasons(list []cairn.PathReason) (paths []string) {
	for _, p := range list {
		paths = append(paths, string(p.Path))
	}
	return paths
}

func randomProject(random *rand.Rand, files int) gittest.Tree {
	tree := gittest.Tree{}
	for i := range files {
		var text strings.Builder
		for line := range 20 + random.IntN(20) {
			fmt.Fprintf(&text, "line %d of file %d, %x\n", line, i, random.Uint32())
		}
		tree[fmt.Sprintf("dir%d/file%d", i%3, i)] = gittest.File(text.String())
	}
	return tree
}

// editRandomly edits about half of the files, and moves, deletes or adds some.
func editRandomly(f *fixture, random *rand.Rand, files int) {
	f.Helper()
	for i := range files {
		path := fmt.Sprintf("dir%d/file%d", i%3, i)
		if random.IntN(2) == 0 {
			continue
		}
		lines := strings.SplitAfter(f.read(path), "\n")
		for range random.IntN(4) {
			lines[random.IntN(len(lines)-1)] = fmt.Sprintf("an edit, %x\n", random.Uint64())
		}
		to := path
		switch random.IntN(8) {
		case 0:
			to = "moved/" + filepath.Base(path)
		case 1:
			to = path + fmt.Sprint(".", random.IntN(3))
		case 2:
			f.remove(path)
			continue
		case 3:
			os.Chmod(f.path(path), 0o755)
		}
		if to != path {
			f.remove(path)
		}
		f.write(to, strings.Join(lines, ""))
	}
	for i := range random.IntN(3) {
		f.write(fmt.Sprintf("dir%d/made%d", i, random.IntN(4)), fmt.Sprintf("made, %x\n", random.Uint64()))
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

// TestMergeRefusesADamagedSource: a store that has lost contents, or holds other bytes under an id,
// brings nothing.
func TestMergeRefusesADamagedSource(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.track()
	g := f.unrelated(t)
	g.track()
	g.write("a", "there, and never stored anywhere else\n")
	there := g.track()
	g.closeAll()
	packs, err := filepath.Glob(filepath.Join(cairn.StorePath(g.data, mustEval(t, g.root)), "objects", "pack", "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	for _, pack := range packs {
		data, err := os.ReadFile(pack)
		if err != nil {
			t.Fatal(err)
		}
		for at := 12; at < len(data)-20; at++ {
			data[at] ^= 0xff
		}
		os.Chmod(pack, 0o644)
		if err := os.WriteFile(pack, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g.opt.Disabled = "the test wants no repair"
	r, err := cairn.Open(g.opt)
	if err != nil {
		t.Skip("the damaged store does not open:", err)
	}
	defer r.Close()
	before := f.manifest()
	if _, err := f.repo().Merge(background, cairn.MergeSource{Repo: r, Checkpoint: there.Checkpoint}, cairn.MergeOptions{}); err == nil {
		t.Error("a damaged store was merged")
	}
	gittest.AssertEqual(t, "the directory", before, f.manifest())
	f.restoreAll(f.track().Hash)
}
