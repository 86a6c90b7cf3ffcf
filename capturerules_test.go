package cairn_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestR01_NestedRepositoryWithoutCommit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a.txt": gittest.File("one\n")})
	o.Init(f.path("in"))
	f.write("in/f", "x\n")
	before := f.trackAll()
	f.write("a.txt", "two\n")
	if after := f.trackAll(); after == before {
		t.Error("the edit is not in the new hash")
	}
	f.restoreAll(before)
	if got := f.read("a.txt"); got != "one\n" {
		t.Errorf("a.txt holds %q", got)
	}
	if ok, err := f.repo().Exists(background, before, "in/f"); !ok || err != nil {
		t.Errorf("file of the nested repository captured: %v, %v", ok, err)
	}
}

func TestR02_NestedRepositoryWithCommits(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"in/f": gittest.File("one\n"), "in/.gitignore": gittest.File("*.log\n"), "in/x.log": gittest.File("log")})
	o.Init(f.path("in"))
	o.Commit(f.path("in"), "first")
	gitBefore := gittest.Manifest(t, f.path("in/.git"))
	before := f.trackAll()
	f.write("in/f", "two\n")
	if got := f.patch(before); !slices.Equal(got, []string{"in/f"}) {
		t.Errorf("patch %q", got)
	}
	f.restoreAll(before)
	if got := f.read("in/f"); got != "one\n" {
		t.Errorf("in/f holds %q", got)
	}
	if ok, _ := f.repo().Exists(background, before, "in/x.log"); ok {
		t.Error("the nested repository's own rules do not count")
	}
	gittest.AssertEqual(t, "the nested .git", gitBefore, gittest.Manifest(t, f.path("in/.git")))
}

func TestR09_ScopeIsTheWholeRoot(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"pkg/p": gittest.File("p1"), "other/o": gittest.File("o1")})
	o.Init(f.root)
	root, err := cairn.FindRoot(f.path("pkg"))
	if err != nil || root != mustEval(t, f.root) {
		t.Fatalf("root of pkg: %s, %v", root, err)
	}
	before := f.trackAll()
	f.write("other/o", "o2")
	if got := f.patch(before); !slices.Equal(got, []string{"other/o"}) {
		t.Errorf("patch %q", got)
	}
	if got := readAt(t, f, f.trackAll(), "other/o"); got != "o2" {
		t.Errorf("sibling is stale: %q", got)
	}
}

func TestR10_LargeUntrackedFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"at": gittest.File(strings.Repeat("x", 1000)), "over": gittest.File(strings.Repeat("x", 1001))})
	f.opt.MaxFileSize = 1000
	got := f.track()
	skippedAs(t, got.Skipped, "over", "too large")
	if len(got.Skipped) != 1 || got.Skipped[0].Size != 1001 || got.Files != 1 {
		t.Errorf("%+v", got)
	}
	f.opt.MaxFileSize = cairn.NoLimit
	if unlimited := f.track(); len(unlimited.Skipped) != 0 || unlimited.Files != 2 {
		t.Errorf("without a limit: %+v", unlimited)
	}
}

func TestR11_LargeFileWithWildcardName(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"[ab].bin": gittest.File(strings.Repeat("x", 2000)), "a.bin": gittest.File("a"), "b.bin": gittest.File("b")})
	f.opt.MaxFileSize = 1000
	got := f.track()
	if len(got.Skipped) != 1 || got.Files != 2 {
		t.Errorf("%+v", got)
	}
}

func TestR12_TrackedAlthoughIgnored(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{
		".gitignore": gittest.File("*.log\nbuild/\n.env\n"), "x.log": gittest.File("one"), "y.log": gittest.File("y"),
		"build/kept": gittest.File("one"), "build/out": gittest.File("out"), ".env": gittest.File("KEY=1"),
	})
	o.Init(f.root)
	o.In(f.root, "add", "-f", "x.log", "build/kept")
	before := f.trackAll()
	f.write("x.log", "two")
	f.write("build/kept", "two")
	f.write("y.log", "yy")
	f.write(".env", "KEY=2")
	if got := f.patch(before); !slices.Equal(got, []string{"build/kept", "x.log"}) {
		t.Errorf("patch %q", got)
	}
	f.restoreAll(before)
	if f.read("x.log") != "one" || f.read("build/kept") != "one" {
		t.Error("tracked files did not come back")
	}
	if f.read(".env") != "KEY=2" || f.read("build/out") != "out" || f.read("y.log") != "yy" {
		t.Error("ignored files were touched")
	}
	f.remove("x.log")
	f.remove("build")
	f.trackAll()
	f.write("x.log", "three")
	f.write("build/kept", "three")
	f.opt.Include = []string{".env*"}
	hash := f.trackAll()
	for _, name := range []string{"x.log", "build/kept", ".env"} {
		if ok, err := f.repo().Exists(background, hash, name); !ok || err != nil {
			t.Errorf("%s: captured %v, %v", name, ok, err)
		}
	}
}

func TestR13_AgentAddsAnIgnoreRule(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"src/a": gittest.File("one")})
	before := f.trackAll()
	f.write(".gitignore", "src/\n")
	f.write("src/a", "two")
	f.write("src/new", "not known before, so the rule counts")
	if got := f.patch(before); !slices.Equal(got, []string{".gitignore", "src/a"}) {
		t.Errorf("patch %q", got)
	}
	f.track()
	// The stat cache may go; what the last capture held stays captured.
	removeIndex(t, f)
	if got := readAt(t, f, f.trackAll(), "src/a"); got != "two" {
		t.Errorf("src/a without a stat cache: %q", got)
	}
	f.restore(before)
	if got := f.read("src/a"); got != "one" {
		t.Errorf("src/a holds %q", got)
	}
}

func TestR14_RulesFromEverywhere(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	home := t.TempDir()
	gittest.Create(t, home, gittest.Tree{
		".gitconfig": gittest.File("[core]\n\texcludesFile = ~/global\n"), "global": gittest.File("*.global\n"),
	})
	f := newFixture(t, gittest.Tree{
		".gitignore": gittest.File("\ufeff*.bom\r\n*.cr\r\n"), "sub/.gitignore": gittest.File("*.sub\n!keep.bom\n"),
		"linked/target": gittest.File("*.linked\n"), "linked/.gitignore": gittest.Link("target"),
		"x.bom": gittest.File(""), "x.cr": gittest.File(""), "x.global": gittest.File(""), "x.info": gittest.File(""), "x.sub": gittest.File(""),
		"sub/x.sub": gittest.File(""), "sub/keep.bom": gittest.File(""), "linked/x.linked": gittest.File(""),
	})
	o.Init(f.root)
	f.write(".git/info/exclude", "*.info\n")
	f.opt.Home = home
	oracle := gittest.NewOracle(t)
	oracle.ExcludesFile = filepath.Join(home, "global")
	if got, want := f.trackAll(), oracle.WriteTree(f.root); got != want {
		t.Errorf("tree %s, git has %s", got, want)
	}
}

func TestR22_FlagsOfTheUsersIndexDoNotCount(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("one"), "b": gittest.File("one")})
	o.Init(f.root)
	o.Commit(f.root, "first")
	o.In(f.root, "update-index", "--assume-unchanged", "a")
	o.In(f.root, "update-index", "--skip-worktree", "b")
	before := f.trackAll()
	f.write("a", "two")
	f.write("b", "two")
	if got := f.patch(before); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("patch %q", got)
	}
}

func TestR48_SparseCheckout(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"in/f": gittest.File("in"), "out/g": gittest.File("out"), "out/deep/h": gittest.File("h"), "top": gittest.File("t")})
	o.Init(f.root)
	o.Commit(f.root, "first")
	o.In(f.root, "sparse-checkout", "set", "in")
	got := f.track()
	skippedAs(t, got.Skipped, "out", "sparse checkout")
	f.write("in/f", "changed")
	f.restore(got.Hash)
	if f.exists("out") {
		t.Error("the restore materialised what the sparse checkout leaves out")
	}
	o.In(f.root, "sparse-checkout", "disable")
	res := f.restore(got.Hash)
	if !f.exists("out/g") || !f.exists("out/deep/h") {
		t.Errorf("absent by a sparse checkout was taken for deleted: %+v", res)
	}
}

// An operation knows where nothing stood, also where the index has a file that the sparse checkout leaves out.
func TestR48_UndoOfWhatASparseCheckoutLeavesOut(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"in/f": gittest.File("in"), "out/g": gittest.File("out"), "out/deep/h": gittest.File("h"), "top/t": gittest.File("t")})
	o.Init(f.root)
	o.Commit(f.root, "first")
	full := f.track()
	o.In(f.root, "sparse-checkout", "set", "in")
	before := f.besidesGit()
	f.restoreAll(full.Hash)
	after := f.besidesGit()
	for range 2 {
		f.undo(cairn.RevertOptions{})
		gittest.AssertEqual(t, "after the undo", before, f.besidesGit())
		f.redo()
		gittest.AssertEqual(t, "after the redo", after, f.besidesGit())
	}
}

// A tracked file that a sparse checkout leaves out is captured when it is back, also where it is ignored, and whatever the
// stat cache knows.
func TestR48_BackInASparseCheckout(t *testing.T) {
	t.Parallel()
	for name, rules := range map[string]gittest.Tree{
		"none":      {},
		"file":      {"out/.gitignore": gittest.File("g\n")},
		"directory": {"in/.gitignore": gittest.File(""), ".gitignore": gittest.File("/out/\n")},
		"from top":  {".gitignore": gittest.File("/out/deep/h\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := gittest.NewOracle(t)
			tree := gittest.Tree{"in/f": gittest.File("in"), "out/g": gittest.File("out"), "out/deep/h": gittest.File("h")}
			maps.Copy(tree, rules)
			f := newFixture(t, tree)
			o.Init(f.root)
			o.In(f.root, "add", "-f", ".")
			o.In(f.root, "commit", "-qm", "first")
			full := f.track()
			o.In(f.root, "sparse-checkout", "set", "in")
			f.track()
			f.restoreAll(full.Hash)
			if got := f.track(); got.Hash != full.Hash || len(got.Skipped) > 0 {
				t.Errorf("after the restore: %s, want %s; left out %+v; it holds %q", got.Hash, full.Hash, got.Skipped, f.files(got.Hash))
			}
			f.write("out/deep/h", "new")
			if got := f.track(); !slices.Equal(f.patch(full.Hash), []string{"out/deep/h"}) {
				t.Errorf("after a change: %q, left out %+v", f.patch(full.Hash), got.Skipped)
			}
		})
	}
}

// A directory of which a sparse checkout left nothing comes back with a new file. What the sparse checkout leaves out of it
// is still not deleted, whether the stat cache is from before or not, and whether the index lists the files or folds the
// directory into its tree.
func TestR48_NewFileBelowWhatASparseCheckoutLeavesOut(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		fresh, folded := i%2 == 1, i/2 == 1
		t.Run(fmt.Sprintf("fresh=%v,folded=%v", fresh, folded), func(t *testing.T) {
			t.Parallel()
			o := gittest.NewOracle(t)
			f := newFixture(t, gittest.Tree{"in/f": gittest.File("in"), "out/g": gittest.File("out"), "out/deep/h": gittest.File("h")})
			o.Init(f.root)
			o.Commit(f.root, "first")
			o.In(f.root, "config", "index.sparse", fmt.Sprint(folded))
			o.In(f.root, "sparse-checkout", "set", "--cone", "in")
			f.track()
			f.write("out/new", "new")
			if fresh {
				f.loseIndex()
			}
			for range 2 { // the second has the stat cache of the first
				got := f.track()
				skippedAs(t, got.Skipped, "out/deep", "sparse checkout")
				skippedAs(t, got.Skipped, "out/g", "sparse checkout")
				if !slices.Contains(f.files(got.Hash), "out/new") {
					t.Errorf("captured %q", f.files(got.Hash))
				}
			}
			f.write("out/deep/new", "new")
			with := f.track()
			skippedAs(t, with.Skipped, "out/deep/h", "sparse checkout")
			o.In(f.root, "sparse-checkout", "disable")
			f.track()
			f.restore(with.Hash)
			if !f.exists("out/g") || !f.exists("out/deep/h") || f.read("out/new") != "new" {
				t.Error("absent by a sparse checkout was taken for deleted")
			}
		})
	}
}

func TestR102_R104_R105_AnyDirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"one/f": gittest.File("1"), "two/f": gittest.File("2"), "f": gittest.File("0")})
	o := gittest.NewOracle(t)
	o.Init(f.path("one"))
	o.Init(f.path("two"), "--object-format=sha256")
	o.Commit(f.path("two"), "sha256")
	before := f.trackAll() // the parent is no repository
	f.write("two/f", "changed")
	f.restoreAll(before)
	sub := &fixture{T: t, root: f.path("two"), data: f.data, opt: cairn.Options{Root: f.path("two"), DataDir: f.data}}
	hash := sub.trackAll()
	sub.write("f", "again")
	if got := sub.patch(hash); !slices.Equal(got, []string{"f"}) {
		t.Errorf("in the SHA-256 repository: %q", got)
	}
	sub.restoreAll(hash)
}
