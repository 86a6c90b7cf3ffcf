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
	"gone here": gittest.File(countTo(9, nil)), "gone there": gittest.File(countTo(8, nil)), "gone": gittest.File("g\n"), "mode": gittest.File("m\n"), "bits": gittest.File("m\n"),
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
	os.Chmod(f.path("bits"), 0o640)
}

func editThere(f *fixture) {
	f.write("both", countTo(30, map[int]string{28: "twenty-eight there\n"}))
	f.write("clash", countTo(30, map[int]string{15: "fifteen there\n"}))
	f.write("there", "t2\n")
	f.write("gone here", countTo(9, map[int]string{2: "two there\n"}))
	f.remove("gone there")
	f.remove("gone")
	os.Chmod(f.path("mode"), 0o755)
	os.Chmod(f.path("bits"), 0o755)
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
			for path, want := range map[string]os.FileMode{"mode": 0o755, "bits": 0o751} {
				if info, err := os.Stat(f.path(path)); err != nil || info.Mode().Perm() != want {
					t.Errorf("%s: %v, %v, want %o", path, info.Mode(), err, want)
				}
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
