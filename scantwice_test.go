package cairn_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestV06_TheNextScanFindsTheSame: rules come that ignore a directory, and files go from it.
// Two captures of the same disk hold the same, so that a plan made at the first is the plan
// at the second.
func TestV06_TheNextScanFindsTheSame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tree gittest.Tree
		edit func(f *fixture)
	}{
		"an empty directory is left": {gittest.Tree{"d/x": gittest.File("x\n"), "d/e": gittest.Dir()}, func(f *fixture) { f.remove("d/x") }},
		"deeper":                     {gittest.Tree{"d/x": gittest.File("x\n"), "d/e/f": gittest.Dir()}, func(f *fixture) { f.remove("d/x") }},
		"a new directory is left":    {gittest.Tree{"d/x": gittest.File("x\n")}, func(f *fixture) { f.remove("d/x"); f.mkdir("d/new") }},
		"a new file is left":         {gittest.Tree{"d/x": gittest.File("x\n")}, func(f *fixture) { f.remove("d/x"); f.write("d/y", "y\n") }},
		"a new file in an empty one": {gittest.Tree{"d": gittest.Dir()}, func(f *fixture) { f.write("d/y", "y\n") }},
		"nothing is left":            {gittest.Tree{"d/x": gittest.File("x\n")}, func(f *fixture) { f.remove("d/x") }},
		"only empty ones":            {gittest.Tree{"d/e/f": gittest.Dir()}, func(f *fixture) {}},
		"an empty one goes":          {gittest.Tree{"d/e/f": gittest.Dir(), "d/y": gittest.Dir()}, func(f *fixture) { f.remove("d/e/f") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.tree["b"] = gittest.File("b\n")
			f := newFixture(t, c.tree)
			hash := f.trackAll()
			f.write(".gitignore", "d\n")
			c.edit(f)
			first := f.track().Checkpoint
			for range 2 {
				if again := f.track().Checkpoint; again != first {
					t.Fatalf("the next checkpoint is %s, not %s", again, first)
				}
			}
			f.asPlanned(hash)
		})
	}
}

// TestV06_PlanAfterNewRules: the dry run is the first to look at the disk after rules came
// that ignore a directory.
func TestV06_PlanAfterNewRules(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"b": gittest.File("b\n")})
	hash := f.trackAll()
	f.write("d/x", "x\n")
	f.mkdir("d/e")
	f.track()
	f.remove("d/x")
	f.write(".gitignore", "d\n")
	f.asPlanned(hash)
}

// TestV06_TheNextScanFindsTheSameUnreadable: a captured directory is ignored and cannot be
// read any more. Every scan lists it.
func TestV06_TheNextScanFindsTheSameUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Parallel()
		rerunAsUser(t)
		return
	}
	f := newFixture(t, gittest.Tree{"b": gittest.File("b\n"), "d/x": gittest.File("x\n")})
	f.trackAll()
	f.write(".gitignore", "d\n")
	f.chmodAll([]string{"d"}, 0)
	t.Cleanup(func() { f.chmodAll([]string{"d"}, 0o755) })
	for range 3 {
		if skipped := f.track().Skipped; len(skipped) != 1 || skipped[0].Path != "d" {
			t.Fatalf("skipped %v", skipped)
		}
	}
	f.chmodAll([]string{"d"}, 0o755)
	first := f.track().Checkpoint
	if again := f.track().Checkpoint; again != first {
		t.Fatalf("the next checkpoint is %s, not %s", again, first)
	}
}

// TestV06_IgnoredWhileUnreadable: a captured directory cannot be read for some captures, and is ignored then. It stays
// one that is not captured: its files do not count as deleted.
func TestV06_IgnoredWhileUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Parallel()
		rerunAsUser(t)
		return
	}
	f := newFixture(t, gittest.Tree{"b": gittest.File("b\n"), "d/x": gittest.File("x\n")})
	first := f.trackAll()
	f.chmodAll([]string{"d"}, 0)
	t.Cleanup(func() { f.chmodAll([]string{"d"}, 0o755) })
	for range 3 {
		skippedAs(t, f.track().Skipped, "d", "unreadable")
	}
	f.write(".gitignore", "d\n")
	for range 2 {
		skippedAs(t, f.track().Skipped, "d", "unreadable")
	}
	if names := f.patch(first); !slices.Equal(names, []string{".gitignore"}) {
		t.Errorf("changed: %q", names)
	}
}

// TestDirectoryInTheLastPlace: a captured path becomes what no capture holds, and then a directory. The directory and
// all in it is captured: what stood there says nothing of it.
func TestDirectoryInTheLastPlace(t *testing.T) {
	t.Parallel()
	for kind, captured := range map[string]gittest.Node{"file": gittest.File("1\n"), "link": gittest.Link("x")} {
		for name, held := range map[string]gittest.Node{"a fifo": gittest.FIFO(), "a too large file": gittest.File(strings.Repeat("x", 101))} {
			t.Run(kind+", "+name, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, gittest.Tree{"p": captured, "other": gittest.File("1\n")})
				f.opt.MaxFileSize = 100
				f.trackAll()
				f.remove("p")
				gittest.Create(t, f.root, gittest.Tree{"p": held})
				skippedAs(t, f.track().Skipped, "p", map[bool]string{true: "special file", false: "too large"}[name == "a fifo"])
				f.remove("p")
				for _, made := range []string{"p/d/new", "p/d/newer"} {
					f.write(made, "new\n")
					if now := f.files(f.trackAll()); !slices.Contains(now, made) {
						t.Errorf("captured: %q, but not %s", now, made)
					}
				}
			})
		}
	}
}
