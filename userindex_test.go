package cairn_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// captured fails unless exactly these of some files are captured now.
func (f *fixture) captured(when string, want []string, of ...string) {
	f.Helper()
	hash := f.trackAll()
	var got []string
	for _, name := range of {
		ok, err := f.repo().Exists(f.Context(), hash, name)
		if err != nil {
			f.Fatal(err)
		}
		if ok {
			got = append(got, name)
		}
	}
	if !slices.Equal(got, want) {
		f.Errorf("%s: captured %q, want %q", when, got, want)
	}
}

// TestDroppedAndBack: a removed file that comes back under an ignore rule is captured
// if the user's repository tracks it, and else is not, however many captures there were
// in between.
func TestDroppedAndBack(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{
		"x.log": gittest.File("x"), "y.log": gittest.File("y"), "a/b/x.log": gittest.File("x"), "a/b/y.log": gittest.File("y"),
		"build/x": gittest.File("x"), "build/y": gittest.File("y"), "other": gittest.File("1"), "a/stays": gittest.File("1"),
	})
	o.Init(f.root)
	tracked := []string{"a/b/x.log", "build/x", "x.log"}
	others := []string{"a/b/y.log", "build/y", "y.log"}
	o.In(f.root, append([]string{"add"}, tracked...)...)
	all := slices.Concat(tracked, others)
	f.captured("at first", all, all...)
	for i, remove := range [][]string{{"x.log", "y.log"}, {"a/b"}, {"build/y", "build"}} {
		for _, path := range remove {
			f.remove(path)
		}
		f.trackAll()
		f.closeAll()
		f.write("other", fmt.Sprint("edit ", i))
		f.trackAll()
	}
	f.captured("removed", nil, all...)
	f.write(".gitignore", "*.log\nbuild/\n")
	f.captured("ignored by now", nil, all...)
	f.closeAll()
	for _, path := range all {
		f.write(path, "back")
	}
	f.captured("back", tracked, all...)
	f.write("other", "once more")
	f.captured("later", tracked, all...)
	f.remove("x.log")
	f.trackAll()
	o.In(f.root, "rm", "-q", "-f", "--cached", "x.log", "build/x")
	f.write("x.log", "back again")
	f.captured("tracked no longer", tracked[:2], all...) // build/x was captured all the time
}

// TestSkippedAndRemoved: a file that a sparse checkout leaves out, but that was present, is not
// deleted when it goes.
func TestSkippedAndRemoved(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"in": gittest.File("in"), "out": gittest.File("out")})
	o.Init(f.root)
	o.Commit(f.root, "first")
	o.In(f.root, "update-index", "--skip-worktree", "out")
	f.captured("at first", []string{"in", "out"}, "in", "out")
	f.remove("out")
	f.track()
	skippedAs(t, f.track().Skipped, "out", "sparse checkout")
}

// TestWatchingRemovalsInARepository: a watching Repo looks at nothing but what has changed
// after a removal, and what comes back is held as it was.
func TestWatchingRemovalsInARepository(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	tree := gittest.Tree{"held.o": gittest.File("held"), "a/held.o": gittest.File("held"), ".gitignore": gittest.File("*.o\n")}
	for i := range 200 {
		tree[fmt.Sprintf("d%d/f", i)] = gittest.File(fmt.Sprint(i))
	}
	w := newWatcher(t, tree)
	o := gittest.NewOracle(t)
	o.Commit(w.root, "first")
	o.In(w.root, "add", "-f", "held.o", "a/held.o")
	w.same("with an index")
	for i := range 4 {
		w.remove(fmt.Sprintf("d%d/f", i))
		w.remove(fmt.Sprintf("d%d", 100+i))
		w.remove([]string{"held.o", "a"}[i%2])
		w.few("removed")
		w.write(fmt.Sprintf("d%d/new", 50+i), "new")
		w.write(fmt.Sprintf("d%d/new.o", 50+i), "ignored")
		w.few("new")
		w.write([]string{"held.o", "a/held.o"}[i%2], fmt.Sprint("back ", i))
		w.same("back")
	}
	for _, name := range []string{"held.o", "a/held.o"} {
		if ok, err := w.watching.Exists(w.Context(), "@", name); err != nil || !ok {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	if ok, err := w.watching.Exists(w.Context(), "@", "d50/new.o"); err != nil || ok {
		t.Errorf("d50/new.o: %v, %v", ok, err)
	}
}

// few is same for a look that must not go beyond what has changed.
func (w *watcher) few(when string) {
	w.Helper()
	w.same(when)
	if n := w.visited.Load(); n > 20 {
		w.Errorf("%s: %d files were looked at", when, n)
	}
}

// TestIgnoredSubmodule: the user's index names a submodule below an ignored directory and none of its
// files. It is not captured, and every track says so while something is in it.
func TestIgnoredSubmodule(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{
		".gitignore": gittest.File("vendor/\n"), "lib/f": gittest.File("1"), "vendor/held": gittest.File("1"), "vendor/other": gittest.File("1"),
	})
	o.Init(f.root)
	for _, path := range []string{"lib", "vendor/lib"} {
		o.In(f.root, "update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890,"+path)
	}
	o.In(f.root, "add", "-f", "vendor/held")
	check := func(when string, files []string, skipped ...cairn.SkippedPath) {
		t.Helper()
		got := f.track()
		if !slices.Equal(got.Skipped, skipped) {
			t.Errorf("%s: skipped %v, want %v", when, got.Skipped, skipped)
		}
		if is := f.files(got.Hash); !slices.Equal(is, files) {
			t.Errorf("%s: captured %q, want %q", when, is, files)
		}
	}
	files, left := []string{".gitignore", "lib/f", "vendor/held"}, cairn.SkippedPath{Path: "vendor/lib", Reason: "ignored"}
	check("absent", files)
	f.mkdir("vendor/lib")
	check("empty", files)
	f.write("vendor/lib/f", "1")
	check("with a file", files, left)
	f.closeAll()
	f.write("vendor/lib/f", "2")
	f.write("lib/f", "2")
	check("again", files, left)
	f.closeAll()
	f.opt.Include = []string{"vendor/lib/"}
	check("included", append(files, "vendor/lib/f"))
}
