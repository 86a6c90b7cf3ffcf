package gittest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// treeOf computes the id of a directory's tree from the bytes on disk, without
// ignoring anything but .git.
func treeOf(t *testing.T, dir string) (object.ID, bool) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var entries []object.Entry
	for _, d := range list {
		path := filepath.Join(dir, d.Name())
		info, err := d.Info()
		if err != nil {
			t.Fatal(err)
		}
		e := object.Entry{Name: d.Name(), Mode: object.Regular}
		var content []byte
		switch {
		case d.Name() == ".git":
			continue
		case d.IsDir():
			id, some := treeOf(t, path)
			if some {
				entries = append(entries, object.Entry{Name: d.Name(), Mode: object.Dir, ID: id})
			}
			continue
		case info.Mode()&os.ModeSymlink != 0:
			e.Mode = object.Symlink
			target, _ := os.Readlink(path)
			content = []byte(target)
		case info.Mode().IsRegular():
			if info.Mode()&0o100 != 0 {
				e.Mode = object.Executable
			}
			if content, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		default:
			continue
		}
		e.ID = object.Sum(object.Blob, content)
		entries = append(entries, e)
	}
	object.SortEntries(entries)
	return object.Sum(object.Tree, object.AppendTree(nil, entries)), len(entries) > 0
}

// What a hostile .gitattributes asks for changes nothing, nor do line end settings.
func TestOracleIgnoresAttributes(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	contents := gittest.Tree{
		"crlf.txt":  gittest.File("one\r\ntwo\r\n"),
		"mixed.txt": gittest.File("one\r\ntwo\n"),
		"id.c":      gittest.File("$Id$\n$Id: 1234 $\n"),
		"wide.txt":  gittest.File("h\x00i\x00\n\x00"),
		"sub/crlf":  gittest.File("\r\n"),
	}
	for _, attributes := range []string{
		"* text=auto\n", "* text\n", "* text eol=crlf\n", "* eol=lf\n", "* crlf=input\n", "* crlf\n", "* ident\n",
		"* filter=evil\n", "*.txt working-tree-encoding=UTF-16LE\n",
		"[attr]hostile text ident filter=evil eol=lf\n* hostile\n",
	} {
		root := o.Init(filepath.Join(t.TempDir(), "w"))
		o.In(root, "config", "filter.evil.clean", "echo evil; echo run >&2")
		o.In(root, "config", "core.autocrlf", "true")
		gittest.Create(t, root, contents)
		for _, path := range []string{".gitattributes", "sub/.gitattributes"} {
			if strings.Contains(attributes, "[attr]") && path != ".gitattributes" {
				continue // macros are for the top only
			}
			gittest.Create(t, root, gittest.Tree{path: gittest.File(attributes)})
		}
		want, _ := treeOf(t, root)
		if got := o.WriteTree(root); got != want.String() {
			t.Errorf("%q: tree %s, want %s:\n%s", attributes, got, want, o.Git("ls-tree", "-r", got))
		}
		// Without the oracle's care they do change something, so the test can fail.
		_, err := o.Try(root, "add", "-A", ".")
		if plain := strings.TrimSpace(o.In(root, "write-tree")); err == nil && plain == want.String() {
			t.Errorf("%q is not hostile at all", attributes)
		}
	}
}

func TestOracleExcludes(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	root := o.Init(filepath.Join(t.TempDir(), "w"))
	gittest.Create(t, root, gittest.Tree{
		"keep": gittest.File("k"), "info.x": gittest.File("i"), "user.x": gittest.File("u"), "Tree.x": gittest.File("t"),
		".gitignore": gittest.File("tree.*\n"),
	})
	global := filepath.Join(t.TempDir(), "excludes")
	for path, patterns := range map[string]string{global: "user.*\n", filepath.Join(root, ".git", "info", "exclude"): "info.*\n"} {
		if err := os.WriteFile(path, []byte(patterns), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want ...string) {
		t.Helper()
		list := o.LsTree(o.Store(), o.WriteTree(root))
		if len(list) != len(want)+2 {
			t.Errorf("tree holds %v, want %v besides keep and .gitignore", list, want)
		}
		for _, path := range want {
			if _, ok := list[path]; !ok {
				t.Errorf("tree holds %v, but not %s", list, path)
			}
		}
	}
	check("user.x", "Tree.x")
	o.IgnoreCase = true
	check("user.x")
	o.ExcludesFile = global
	check()
	// A linked worktree shares info/exclude; a directory without .git has none.
	o.ExcludesFile, o.IgnoreCase = "", false
	o.Commit(root, "one")
	linked := filepath.Join(t.TempDir(), "linked")
	o.In(root, "worktree", "add", "-q", linked)
	if err := os.WriteFile(filepath.Join(linked, "info.y"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if list := o.LsTree(o.Store(), o.WriteTree(linked)); list["keep"] == "" || list["info.y"] != "" {
		t.Errorf("linked worktree: %v", list)
	}
	if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
		t.Fatal(err)
	}
	check("user.x", "Tree.x", "info.x")
}

func TestOracleLeavesTheRootAlone(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	root := o.Init(filepath.Join(t.TempDir(), "w"))
	gittest.Create(t, root, gittest.Tree{"a": gittest.File("1")})
	o.Commit(root, "one")
	gittest.Create(t, root, gittest.Tree{"b/c": gittest.File("2")})
	before := gittest.Manifest(t, root, gittest.WantDirTimes)
	first := o.WriteTree(root)
	gittest.AssertEqual(t, "root", before, gittest.Manifest(t, root, gittest.WantDirTimes))

	if err := os.Remove(filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	second := o.WriteTree(root)
	if got := o.DiffTree(o.Store(), first, second, "--name-status"); got != "D\ta\n" {
		t.Errorf("diff-tree prints %q", got)
	}
	if got := o.CatFile(o.Store(), second+":b/c"); got != "2" {
		t.Errorf("cat-file prints %q", got)
	}
}

func TestOracleFsck(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	root := o.Init(filepath.Join(t.TempDir(), "w"))
	o.Fsck(root)
	gittest.Create(t, root, gittest.Tree{"a": gittest.File("1")})
	o.Commit(root, "one")
	o.Fsck(root)

	blob := strings.TrimSpace(o.In(root, "rev-parse", "HEAD:a"))
	if err := os.Remove(filepath.Join(root, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	r := &recorder{TB: t}
	o.For(r).Fsck(root)
	if !strings.Contains(r.failure, "missing blob "+blob) {
		t.Errorf("a missing blob gives %q", r.failure)
	}
}

func TestOracleStaysBelowTheCeiling(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	root := o.Init(filepath.Join(t.TempDir(), "w"))
	gittest.Create(t, root, gittest.Tree{"sub": gittest.Dir()})
	if out, err := o.Try(filepath.Join(root, "sub"), "rev-parse", "--git-dir"); err == nil {
		t.Errorf("a directory inside of a repository was taken for one: %q", out)
	}
	if got := o.Feed(root, "blob\n", "hash-object", "--stdin"); got != object.Sum(object.Blob, []byte("blob\n")).String()+"\n" {
		t.Errorf("hash-object prints %q", got)
	}
}

func TestOracleVersion(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	if !o.AtLeast(1, 99) || o.AtLeast(99, 0) {
		t.Error("cannot compare the version")
	}
	o.NeedVersion(1, 0)
}

// Random trees are reproducible, can be made, hold what they should, and git makes
// of them what lies on disk.
func TestRandomTree(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	var links, execs, fifos, dirs, ignores int
	for seed := range uint64(gittest.Rounds(40)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			opts := gittest.RandomOptions{NoIgnoreFiles: seed%2 == 0, FIFOs: seed%3 == 0, ModeBits: seed%5 == 0, NoLinks: seed%7 == 6}
			tree := gittest.RandomTree(rand.New(rand.NewPCG(seed, 1)), opts)
			if again := gittest.RandomTree(rand.New(rand.NewPCG(seed, 1)), opts); gittest.Diff(tree.Listing(), again.Listing()) != "" {
				t.Fatal("the same seed gives two trees")
			}
			root := t.TempDir()
			gittest.Create(t, root, tree)
			gittest.AssertTree(t, root, tree)
			for path, e := range tree.Listing() {
				switch {
				case e.Type == 'l':
					links++
				case e.Type == 'p':
					fifos++
				case e.Type == 'd':
					dirs++
				case e.Perm == 0o755:
					execs++
				}
				if strings.HasSuffix(path, ".gitignore") {
					ignores++
				}
				if opts.NoLinks && e.Type == 'l' || !opts.FIFOs && e.Type == 'p' || !opts.ModeBits && e.Type == 'f' && e.Perm&^0o111 != 0o644 {
					t.Errorf("%q: %v was not asked for", path, e)
				}
			}
			tree1 := o.For(t).WriteTree(root)
			if want, _ := treeOf(t, root); opts.NoIgnoreFiles && tree1 != want.String() {
				t.Errorf("git writes tree %s, on disk there is %s", tree1, want)
			}
		})
	}
	few := gittest.Rounds
	if links < few(30) || execs < few(30) || fifos < few(5) || dirs < few(70) || ignores < few(15) {
		t.Errorf("%d links, %d executables, %d FIFOs, %d directories, %d ignore files: too few of some", links, execs, fifos, dirs, ignores)
	}
}

// The ignore files of random trees ignore some of them, not all.
func TestRandomIgnoreFiles(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	var some, all, files int
	trees := gittest.Rounds(80)
	for seed := range uint64(trees) {
		tree := gittest.RandomTree(rand.New(rand.NewPCG(seed, 2)), gittest.RandomOptions{})
		root := t.TempDir()
		gittest.Create(t, root, tree)
		kept, there := len(o.LsTree(o.Store(), o.WriteTree(root))), 0
		for _, e := range tree.Listing() {
			if e.Type == 'f' || e.Type == 'l' {
				there++
			}
		}
		files += there
		if kept < there {
			some++
		}
		if kept == 0 {
			all++
		}
	}
	if some < trees*15/40 || all > trees*10/40 {
		t.Errorf("of %d trees with %d files, %d have ignored ones and %d nothing else", trees, files, some, all)
	}
}

func TestRandomTreeDotGit(t *testing.T) {
	t.Parallel()
	found := 0
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		for path := range gittest.RandomTree(rng, gittest.RandomOptions{DotGit: seed%2 == 0}) {
			for name := range strings.SplitSeq(path, "/") {
				if !object.IsDotGit(name) {
					continue
				}
				if found++; seed%2 != 0 {
					t.Errorf("%q was not asked for", path)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no spelling of .git in any tree")
	}
}

func TestMutate(t *testing.T) {
	t.Parallel()
	words := map[string]int{}
	for seed := range uint64(max(10, gittest.Rounds(40))) {
		rng := rand.New(rand.NewPCG(seed, 4))
		root := t.TempDir()
		gittest.Create(t, root, gittest.RandomTree(rng, gittest.RandomOptions{Files: 20, NoIgnoreFiles: true}))
		gittest.Create(t, root, gittest.Tree{".git/HEAD": gittest.File("x"), "nest/.git/config": gittest.File("y")})
		before := gittest.Manifest(t, root, gittest.WantTimes)
		done := gittest.Mutate(t, rng, root, 15)
		after := gittest.Manifest(t, root, gittest.WantTimes)
		if gittest.Diff(before, after) == "" {
			t.Errorf("seed %d: %q changed nothing", seed, done)
		}
		if before[".git/HEAD"] != after[".git/HEAD"] {
			t.Errorf("seed %d: .git was changed", seed)
		}
		nested := 0
		for path, e := range after {
			if strings.HasSuffix(path, "/.git/config") && e == before["nest/.git/config"] {
				nested++
			}
		}
		if nested != 1 {
			t.Errorf("seed %d: the nested repository was harmed by %q", seed, done)
		}
		for _, what := range done {
			words[strings.Fields(what)[0]]++
		}
		if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
			t.Fatal(err)
		}
	}
	for _, word := range []string{"create", "change", "append", "chmod", "touch", "rewrite", "delete", "put", "rename", "write", "make"} {
		if words[word] == 0 {
			t.Errorf("never: %s (%v)", word, words)
		}
	}
}
