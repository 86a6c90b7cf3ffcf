package session_test

import (
	"os"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// respelled is a session on a file system that ignores case. Its second message gave a
// file and a directory other spellings.
func respelled(t *testing.T) *fixture {
	t.Helper()
	f := newFixtureIn(t, gittest.CaseBlindDir(t), gittest.Tree{"mine": gittest.File("mine")})
	f.step("s", "m1", "1", func() {
		f.write("readme", "one")
		f.write("Docs/a", "one")
		f.write("Docs/b", "b")
	}, "readme", "Docs/a")
	f.step("s", "m2", "2", func() {
		f.rename("readme", "README")
		f.rename("Docs", "docs")
		f.write("docs/a", "two")
	}, "README", "docs/a")
	return f
}

func (f *fixture) rename(from, to string) {
	f.Helper()
	if err := os.Rename(f.path(from), f.path(to)); err != nil {
		f.Fatal(err)
	}
}

func TestRevertSpelling(t *testing.T) {
	t.Parallel()
	f := respelled(t)
	f.write("mine", "later")
	after := gittest.Manifest(t, f.root)
	if _, res := f.revert("s", session.Target{Message: "m2"}); !res.Complete() {
		t.Errorf("kept %v, conflicts %v", res.Kept, res.Conflicts)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{
		"readme": gittest.File("one"), "Docs/a": gittest.File("one"), "Docs/b": gittest.File("b"), "mine": gittest.File("later"),
	})
	if _, res := f.unrevert("s"); !res.Complete() {
		t.Errorf("kept %v, conflicts %v", res.Kept, res.Conflicts)
	}
	gittest.AssertEqual(t, "the directory", after, gittest.Manifest(t, f.root))
}

// TestRevertSpellingKeepsLaterWork: a path that another writer has changed since keeps its name,
// and so does the other half of the rename. Of two directories that are one here the later stays,
// because another writer has put a file into it.
func TestRevertSpellingKeepsLaterWork(t *testing.T) {
	t.Parallel()
	f := respelled(t)
	f.write("README", "somebody's")
	f.write("docs/new", "somebody's")
	after := gittest.Manifest(t, f.root)
	_, res := f.revert("s", session.Target{Message: "m2"})
	gittest.AssertEqual(t, "the directory", after, gittest.Manifest(t, f.root))
	var paths []string
	for _, c := range res.Conflicts {
		paths = append(paths, string(c.Path))
	}
	if want := []string{"Docs/a", "Docs/b", "README", "docs/a", "docs/b", "readme"}; !slices.Equal(paths, want) {
		t.Errorf("conflicts of %q, want %q: %v", paths, want, res.Conflicts)
	}
}

// TestRevertSpellingOfDirectoryInUse: a directory with another writer's file in it does not become
// a file, nor does it get that file's name.
func TestRevertSpellingOfDirectoryInUse(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, gittest.CaseBlindDir(t), gittest.Tree{"thing": gittest.File("file")})
	f.step("s", "m1", "1", func() {
		f.remove("thing")
		f.write("Thing/x", "x")
	}, "Thing/x")
	f.write("Thing/mine", "somebody's")
	_, res := f.revert("s", session.Target{Message: "m1"})
	if f.read("Thing/mine") != "somebody's" || len(res.Conflicts) == 0 {
		t.Errorf("%+v", res)
	}
	for path := range gittest.Manifest(t, f.root) {
		if path != "Thing" && path != "Thing/mine" {
			t.Errorf("there is %s", path)
		}
	}
}
