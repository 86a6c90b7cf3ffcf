package apply

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

var crashBefore = testTree{
	"file to dir": aFile("f"), "dir to file/x": aFile("x"), "dir to file/d/y": aFile("y"), "dir to link/x": aFile("x"), "dir to link/e": aFolder(),
	"link to dir": aLink("a"), "file to link": aFile("f"), "link to file": aLink("b"), "edited": aFile("old"), "mode": aFile("m"),
	"gone/one": aFile("1"), "gone/two/three": aFile("3"), "same": aFile("same"), "ro": aFolder().bits(0o555), "ro/f": aFile("old"), "ro/gone": aFile("g"),
	"implied": aFile("gives way to a directory that no change names"), "dirmode": aFolder().bits(0o700),
}

var crashAfter = testTree{
	"file to dir": aFolder().bits(0o750), "file to dir/x": aFile("x"), "dir to file": aFile("f"), "dir to link": aLink("same"),
	"link to dir/x": aFile("x"), "file to link": aLink("edited"), "link to file": aFile("f").bits(0o600), "edited": aFile("new"), "mode": aFile("m").bits(0o755),
	"same": aFile("same"), "ro": aFolder().bits(0o555), "ro/f": aFile("new"), "ro/new": aFile("n"), "ro new": aFolder().bits(0o500), "ro new/f": aFile("f"),
	"implied/x": aFile("x"), "dirmode": aFolder().bits(0o711), "new": aFile("new").bits(0o444),
}

// crashPlan also protects the bits of a directory that it does not change but has to
// write to, and leaves one directory to be made without a change of its own.
func crashPlan(t *testing.T, root string, blobs *memorySource) []Change {
	var changes []Change
	for _, c := range plan(t, root, blobs, crashBefore, crashAfter) {
		if c.Action != Mkdir || c.Path != "implied" {
			changes = append(changes, c)
		}
	}
	return append(changes, Change{Path: "ro", Action: Chmod, Mode: object.Dir, Perm: 0o555, Was: expect(t, root, "ro")})
}

// crashSteps is the plan in the order in which Apply carries it out.
func crashSteps(changes []Change) []Change {
	var steps []Change
	for _, phase := range orderOf(changes, func(int) bool { return false }) {
		for _, i := range phase {
			steps = append(steps, changes[i])
		}
	}
	return steps
}

// TestR92Resume stops after every number of steps, with and without the leftovers of
// the step that was under way, and resumes: the result is always the wanted tree.
func TestR92Resume(t *testing.T) {
	t.Parallel()
	probe := tempRoot(t)
	crashBefore.build(t, probe)
	steps := len(crashPlan(t, probe, &memorySource{}))
	for stop := range steps + 1 {
		for _, swept := range []bool{false, true} {
			t.Run(fmt.Sprintf("after %d of %d, swept %t", stop, steps, swept), func(t *testing.T) {
				t.Parallel()
				root := tempRoot(t)
				crashBefore.build(t, root)
				a, blobs := newExecutor(root)
				a.stamps = byTicks
				changes := crashPlan(t, root, blobs)
				done := crashSteps(changes)[:stop]
				applyAll(t, &Executor{Root: root, Source: blobs, Token: "t0"}, done)
				loosenAsIfKilled(t, root)
				leaveTemps(t, root, changes)
				if swept {
					must(t, RemoveTemps(root, "t0", changes))
				}
				a.Resume = true
				before := map[string]*dir.State{}
				for _, c := range done {
					if c.Action.Makes() && c.Mode != object.Dir {
						before[c.Path] = expect(t, root, c.Path)
					}
				}
				outcomes := applyAll(t, a, changes)
				must(t, RemoveTemps(root, "t0", changes))
				crashAfter.check(t, root)
				for path, was := range before {
					if now := expect(t, root, path); *now != *was {
						t.Errorf("%q was done and is written again: %+v, %+v", path, was, now)
					}
				}
				for _, out := range outcomes {
					checkEntry(t, root, out)
				}
				applyAll(t, a, changes) // once more: nothing left to do
				crashAfter.check(t, root)
			})
		}
	}
}

// leaveTemps puts half a temporary file, or a file that was put aside, wherever a directory is there to hold it.
func leaveTemps(t *testing.T, root string, changes []Change) {
	t.Helper()
	for i, c := range changes {
		at := filepath.Join(root, parentPath(c.Path), dir.TempName("t0", i))
		leaf := c.Action.Makes() && c.Mode != object.Dir || c.Action == Delete
		if fi, err := os.Lstat(filepath.Dir(at)); leaf && err == nil && fi.IsDir() {
			must(t, os.WriteFile(at, []byte("half"), 0o600))
		}
	}
}

// loosenAsIfKilled leaves read-only directories as a killed Apply does.
func loosenAsIfKilled(t *testing.T, root string) {
	t.Helper()
	must(t, os.Chmod(filepath.Join(root, "ro"), 0o755))
	if at := filepath.Join(root, "ro new"); expect(t, root, "ro new") != nil {
		must(t, os.Chmod(at, 0o700))
	}
}

// TestR92ResumeKeepsOtherWork: a path that is in neither the expected nor the wanted state is
// another writer's work, also after a crash.
func TestR92ResumeKeepsOtherWork(t *testing.T) {
	t.Parallel()
	root := tempRoot(t)
	before := testTree{"a": aFile("old"), "b": aFile("old"), "c": aFile("old"), "d/x": aFile("old"), "e": aFile("old"), "l": aLink("old")}
	after := testTree{"a": aFile("new"), "b": aFile("new"), "c/x": aFile("new"), "d": aFile("new"), "l": aLink("new")}
	before.build(t, root)
	a, blobs := newExecutor(root)
	a.Resume = true
	changes := plan(t, root, blobs, before, after)
	mine := testTree{
		"a": aFile("NEW"), "b": aFile("new").bits(0o600), "c": aFile("mine"), "d": aLink("mine"), "e": aFile("mine"), "l": aLink("mine"),
	}
	must(t, os.RemoveAll(root))
	must(t, os.Mkdir(root, 0o755))
	mine.build(t, root)
	outcomes, err := a.Run(context.Background(), changes, nil)
	must(t, err)
	for _, out := range outcomes {
		wantKept(t, out, dir.ErrChanged)
	}
	mine.check(t, root)
}

// TestApplyRandomTrees goes from random trees to random trees, with a crash on the
// way that the second call completes.
func TestApplyRandomTrees(t *testing.T) {
	t.Parallel()
	for seed := range uint64(gittest.Rounds(60)) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		root := tempRoot(t)
		from, to := randomTree(rnd), randomTree(rnd)
		from.build(t, root)
		a, blobs := newExecutor(root)
		changes := plan(t, root, blobs, from, to)
		rnd.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
		applyAll(t, a, crashSteps(changes)[:rnd.IntN(len(changes)+1)])
		a.Resume = true
		applyAll(t, a, changes)
		to.check(t, root)
		if t.Failed() {
			t.Fatalf("seed %d: from %v to %v", seed, from, to)
		}
	}
}

// randomTree uses few names, so that two trees often differ in what a path is.
func randomTree(rnd *rand.Rand) testTree {
	tree := testTree{}
	var fill func(prefix string, depth int)
	fill = func(prefix string, depth int) {
		for _, name := range []string{"a", "A", "b", "b.c", "b\x01"} {
			path := prefix + name
			switch k := rnd.IntN(10); {
			case k < 3 && depth < 4:
				tree[path] = aFolder().bits([]uint16{0o755, 0o700, 0o500, 0o1777}[rnd.IntN(4)])
				fill(path+"/", depth+1)
			case k < 6:
				tree[path] = aFile(fmt.Sprint(rnd.IntN(3))).bits([]uint16{0o644, 0o600, 0o755, 0o444}[rnd.IntN(4)])
			case k < 7:
				tree[path] = aLink([]string{"a", "b", "../a", "."}[rnd.IntN(4)])
			}
		}
	}
	fill("", 0)
	return tree
}
