package apply

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

var spelledBefore = testTree{
	"readme": aFile("old"), "same": aFile("same"), "Docs/a": aFile("a"), "Docs/Sub/b": aFile("b"), "Docs/x.log": aFile("somebody's"),
	"Out/x": aFile("x"), "thing": aFile("f"), "Dir/x": aFile("x"), "Dir/d/y": aFile("y"),
}

// spelledAfter has what the plan does not name, too.
var spelledAfter = testTree{
	"README": aFile("new"), "SAME": aFile("same"), "docs/a": aFile("A"), "docs/c": aFile("c"), "docs/x.log": aFile("somebody's"),
	"out": aFolder(), "Thing/x": aFile("x"), "dir": aFile("f"),
}

func spelledPlan(t *testing.T, root string, blobs *memorySource) []Change {
	t.Helper()
	create := func(path, content string) Change {
		return Change{Path: path, Action: Create, Mode: object.Regular, Perm: 0o644, ID: blobs.put(content)}
	}
	remove := func(path, as string) Change {
		return Change{Path: path, Action: Delete, As: as, Was: expect(t, root, path)}
	}
	rmdir := func(path, as string) Change { return Change{Path: path, Action: Rmdir, As: as} }
	return []Change{
		create("README", "new"), remove("readme", "README"), create("SAME", "same"), remove("same", "SAME"),
		create("docs/a", "A"), create("docs/c", "c"), remove("Docs/a", "docs/a"), remove("Docs/Sub/b", ""), rmdir("Docs/Sub", ""), rmdir("Docs", "docs"),
		remove("Out/x", ""), rmdir("Out", "out"), {Path: "out", Action: Mkdir, Mode: object.Dir, Perm: 0o755},
		create("Thing/x", "x"), remove("thing", "Thing"),
		create("dir", "f"), remove("Dir/x", ""), remove("Dir/d/y", ""), rmdir("Dir/d", ""), rmdir("Dir", "dir"),
	}
}

// TestApplyOtherSpellings also stops after every number of steps, and resumes.
func TestApplyOtherSpellings(t *testing.T) {
	t.Parallel()
	const steps = 20
	for stop := range steps + 1 {
		if testing.Short() && stop%5 != 0 {
			continue
		}
		t.Run(fmt.Sprintf("after %d of %d", stop, steps), func(t *testing.T) {
			t.Parallel()
			root := gittest.CaseBlindDir(t)
			spelledBefore.build(t, root)
			a, blobs := newExecutor(root)
			changes := spelledPlan(t, root, blobs)
			if len(changes) != steps {
				t.Fatalf("%d steps", len(changes))
			}
			applyAll(t, &Executor{Root: root, Source: blobs, Token: "t0"}, crashSteps(changes)[:stop])
			a.Resume = stop > 0
			applyAll(t, a, changes)
			checkSpelled(t, root)
			a.Resume = true
			applyAll(t, a, changes) // once more: nothing left to do
			checkSpelled(t, root)
		})
	}
}

// checkSpelled compares the names, too: others would be found as well.
func checkSpelled(t *testing.T, root string) {
	t.Helper()
	want := t.TempDir()
	spelledAfter.build(t, want)
	if diff := cmp.Diff(gittest.Manifest(t, want), gittest.Manifest(t, root)); diff != "" {
		t.Errorf("the directory (-want +got):\n%s", diff)
	}
}
