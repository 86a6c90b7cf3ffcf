package cairn_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// newCaseBlind is newFixture on a file system that takes README and readme for the same.
func newCaseBlind(t *testing.T, tree gittest.Tree) *fixture {
	t.Helper()
	return newFixtureIn(t, gittest.CaseBlindDir(t), tree)
}

type otherSpelling struct {
	then gittest.Tree
	now  func(f *fixture)
}

// otherSpellings are changes by which something gets a name that the file system takes for
// that of something at the target.
var otherSpellings = map[string]otherSpelling{
	"file": {
		gittest.Tree{"readme": gittest.File("old"), "z": gittest.File("z")},
		func(f *fixture) { f.rename("readme", "README") },
	},
	"file, changed": {
		gittest.Tree{"readme": gittest.File("old")},
		func(f *fixture) { f.rename("readme", "README"); f.write("README", "new contents") },
	},
	"executable": {
		gittest.Tree{"Run": gittest.File("x")},
		func(f *fixture) { f.rename("Run", "run"); os.Chmod(f.path("run"), 0o755) },
	},
	"link": {
		gittest.Tree{"link": gittest.Link("there")},
		func(f *fixture) { f.rename("link", "LINK") },
	},
	"link to file": {
		gittest.Tree{"link": gittest.Link("there")},
		func(f *fixture) { f.remove("link"); f.write("LINK", "file") },
	},
	"two files change names": {
		gittest.Tree{"a": gittest.File("1"), "B": gittest.File("2")},
		func(f *fixture) { f.rename("a", "x"); f.rename("B", "b"); f.rename("x", "A") },
	},
	"directory": {
		gittest.Tree{"Docs/a": gittest.File("a"), "Docs/sub/b": gittest.File("b")},
		func(f *fixture) { f.rename("Docs", "docs") },
	},
	"directory with more in it": {
		gittest.Tree{"Docs/a": gittest.File("a"), "Docs/sub/b": gittest.File("b")},
		func(f *fixture) { f.rename("Docs", "docs"); f.write("docs/new", "n"); f.write("docs/made/new", "n") },
	},
	"directories in directories": {
		gittest.Tree{"A/B/C": gittest.File("c"), "A/b1": gittest.File("1")},
		func(f *fixture) { f.rename("A/B/C", "A/B/c"); f.rename("A/B", "A/b"); f.rename("A", "a") },
	},
	"directory with what is ignored": {
		gittest.Tree{".gitignore": gittest.File("*.log\n"), "Docs/a": gittest.File("a"), "Docs/x.log": gittest.File("log"), "Docs/deep/y.log": gittest.File("log")},
		func(f *fixture) { f.rename("Docs", "docs") },
	},
	"empty directories": {
		gittest.Tree{"Docs/sub": gittest.Dir(), "Other": gittest.DirMode(0o700)},
		func(f *fixture) { f.rename("Docs", "docs"); f.rename("Other", "other") },
	},
	"file becomes directory": {
		gittest.Tree{"thing": gittest.File("file")},
		func(f *fixture) { f.remove("thing"); f.write("Thing/x", "x") },
	},
	"directory becomes file": {
		gittest.Tree{"Thing/x/y": gittest.File("y")},
		func(f *fixture) { f.remove("Thing"); f.write("thing", "file") },
	},
	"empty directory becomes file": {
		gittest.Tree{"Thing": gittest.Dir()},
		func(f *fixture) { f.remove("Thing"); f.write("thing", "file") },
	},
	"accents": {
		gittest.Tree{"caf\u00e9": gittest.File("1"), "\u00e9t\u00e9/cafe\u0301": gittest.File("2")},
		func(f *fixture) {
			if _, err := os.Lstat(f.path("cafe\u0301")); err != nil {
				f.Skip("accents are told apart here")
			}
			f.rename("caf\u00e9", "CAFE\u0301")
			f.rename("CAFE\u0301", "cafe\u0301")
			f.rename("\u00e9t\u00e9", "e\u0301te\u0301")
		},
	},
	"file out of directory": {
		gittest.Tree{"Docs/a": gittest.File("a"), "b": gittest.File("b")},
		func(f *fixture) { f.rename("Docs", "docs"); f.rename("docs/a", "A"); f.rename("b", "docs/B") },
	},
}

// TestSpelling goes back to another spelling and forth again.
func TestSpelling(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, c := range otherSpellings {
		for _, keepOpen := range []bool{false, true} {
			if testing.Short() && !keepOpen {
				continue
			}
			t.Run(fmt.Sprintf("%s, open %v", name, keepOpen), func(t *testing.T) {
				t.Parallel()
				f := newCaseBlind(t, c.then)
				repo := f.repo
				if keepOpen {
					one := f.repo()
					repo = func() *cairn.Repo { return one }
				}
				track := func() *cairn.TrackResult { return f.trackBy(repo()) }
				before, then := track(), f.manifest()
				c.now(f)
				track()
				now := f.manifest()
				if gittest.Diff(then, now) == "" {
					t.Fatal("nothing has changed")
				}
				// Not by the tree, of which there may be two: it holds no empty directories.
				res, err := repo().Restore(background, before.Checkpoint, cairn.RestoreOptions{})
				if err != nil || !res.Complete() {
					t.Fatalf("restore: %+v, %v", res, err)
				}
				gittest.AssertEqual(t, "the directory after the restore", then, f.manifest())
				if got := track(); got.Hash != before.Hash {
					t.Errorf("the tree is %s after the restore, not %s", got.Hash, before.Hash)
				}
				res, err = repo().Undo(background, cairn.RevertOptions{})
				if err != nil || !res.Complete() {
					t.Fatalf("undo: %+v, %v", res, err)
				}
				gittest.AssertEqual(t, "the directory after the undo", now, f.manifest())
			})
		}
	}
}

// afterOtherSpellings runs a test where one of the changes was made, for each of them. It
// gets the checkpoint before, and what there was then.
func afterOtherSpellings(t *testing.T, test func(f *fixture, c otherSpelling, before *cairn.TrackResult, then gittest.Listing)) {
	t.Helper()
	if testing.Short() {
		t.Skip("much like TestSpelling")
	}
	t.Parallel()
	for name, c := range otherSpellings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newCaseBlind(t, c.then)
			before, then := f.track(), f.manifest()
			c.now(f)
			test(f, c, before, then)
		})
	}
}

// TestSpellingReverted takes the same back by the patch of a step.
func TestSpellingReverted(t *testing.T) {
	afterOtherSpellings(t, func(f *fixture, c otherSpelling, before *cairn.TrackResult, then gittest.Listing) {
		files := f.patch(before.Hash)
		if len(files) == 0 {
			f.Skip("no file has changed")
		}
		if res := f.revert(cairn.Patch{Hash: before.Hash, Files: files}); !res.Complete() {
			f.Errorf("kept %v, conflicts %v", res.Kept, res.Conflicts)
		}
		maps.DeleteFunc(then, func(path string, _ gittest.Entry) bool { // a patch names no directories
			_, given := c.then[path]
			return given && then[path].Type == 'd'
		})
		gittest.AssertEqual(f, "the directory", then, f.manifest())
	})
}

// TestSpellingKeepingNew: new paths stay, but those with the name of an old path.
func TestSpellingKeepingNew(t *testing.T) {
	afterOtherSpellings(t, func(f *fixture, _ otherSpelling, before *cairn.TrackResult, then gittest.Listing) {
		now := f.manifest()
		res, err := f.repo().Restore(background, before.Checkpoint, cairn.RestoreOptions{KeepNew: true})
		if err != nil || !res.Complete() {
			f.Errorf("%+v, %v", res, err)
		}
		is := f.manifest()
		for path, want := range then {
			if is[path] != want {
				f.Errorf("%s is %v, not %v", path, is[path], want)
			}
		}
		if _, more := now["docs/new"]; more && (is["Docs/new"].Type != 'f' || is["Docs/made/new"].Type != 'f') {
			f.Errorf("what is new is gone: %v", is)
		}
	})
}

// TestSpellingOfOnePath brings one file back, from a directory with more in it.
func TestSpellingOfOnePath(t *testing.T) {
	t.Parallel()
	f := newCaseBlind(t, gittest.Tree{"Docs/a": gittest.File("a"), "Docs/b": gittest.File("b")})
	before := f.trackAll()
	f.rename("Docs", "docs")
	f.rename("docs/a", "docs/A")
	f.write("docs/b", "later")
	if res := f.restore(before, "Docs/a"); !res.Complete() {
		t.Errorf("kept %v, conflicts %v", res.Kept, res.Conflicts)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{"Docs/a": gittest.File("a"), "Docs/b": gittest.File("later")})
}

// TestSpellingOfWhatIsIgnored: a file that no capture holds is saved before it makes room.
func TestSpellingOfWhatIsIgnored(t *testing.T) {
	t.Parallel()
	f := newCaseBlind(t, gittest.Tree{".gitignore": gittest.File("NOTES\n"), "notes": gittest.File("old")})
	before := f.trackAll()
	f.remove("notes")
	f.write("NOTES", "mine")
	f.trackAll()
	f.restoreAll(before)
	gittest.AssertTree(t, f.root, gittest.Tree{".gitignore": gittest.File("NOTES\n"), "notes": gittest.File("old")})
	if res, err := f.repo().Undo(background, cairn.RevertOptions{}); err != nil || !res.Complete() {
		t.Fatalf("undo: %+v, %v", res, err)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{".gitignore": gittest.File("NOTES\n"), "NOTES": gittest.File("mine")})
}

// TestSpellingOfTwo: of two names that are two files elsewhere there can be one here. The
// other one is a conflict, and what is there stays.
func TestSpellingOfTwo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	if !gittest.TellsCase(t, f.root) {
		t.Skip("there cannot be two here to begin with")
	}
	gittest.Create(t, f.root, gittest.Tree{"A": gittest.File("1"), "a": gittest.File("2"), "D/x": gittest.File("3"), "d/y": gittest.File("4")})
	var bundle bytes.Buffer
	both := f.trackAll()
	if err := f.repo().Export(background, &bundle, both); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		there, want gittest.Tree
		taken       []string
	}{
		"one is there": {
			gittest.Tree{"A": gittest.File("mine"), "D/x": gittest.File("mine")},
			gittest.Tree{"A": gittest.File("1"), "D/x": gittest.File("3")},
			[]string{"a", "d/y"},
		},
		"the other one is there": {
			gittest.Tree{"a": gittest.File("mine"), "d/y": gittest.File("mine")},
			gittest.Tree{"a": gittest.File("2"), "d/y": gittest.File("4")},
			[]string{"A", "D/x"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newCaseBlind(t, c.there)
			if _, err := f.repo().Import(background, bytes.NewReader(bundle.Bytes())); err != nil {
				t.Fatal(err)
			}
			res := f.restore(both)
			gittest.AssertTree(t, f.root, c.want)
			var taken []string
			for _, conflict := range res.Conflicts {
				taken = append(taken, string(conflict.Path))
				if !strings.Contains(conflict.Reason, "takes it for the same as") {
					t.Errorf("%s: %s", conflict.Path, conflict.Reason)
				}
			}
			if !slices.Equal(taken, c.taken) {
				t.Errorf("conflicts of %q, want %q", taken, c.taken)
			}
		})
	}
}

// TestSpellingRandomly goes back and forth between states whose names differ in case.
func TestSpellingRandomly(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	seeds := uint64(8)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			f := newCaseBlind(t, nil)
			type state struct {
				checkpoint string
				is         gittest.Listing
			}
			var states []state
			for range 6 {
				respellSome(f, rng)
				states = append(states, state{f.track().Checkpoint, f.manifest()})
			}
			for range 10 {
				to := states[rng.IntN(len(states))]
				f.restoreAll(to.checkpoint)
				gittest.AssertEqual(t, "the directory", to.is, f.manifest())
			}
		})
	}
}

// respellSome makes, removes and renames a few paths. Of two that differ only in case the
// later takes the place of the earlier.
func respellSome(f *fixture, rng *rand.Rand) {
	f.Helper()
	name := func() string {
		s := string([]byte{"abc"[rng.IntN(3)]})
		if rng.IntN(2) == 0 {
			s = strings.ToUpper(s)
		}
		return s
	}
	path := func() string {
		p := name()
		for rng.IntN(3) > 0 && len(p) < 6 {
			p = filepath.Join(p, name())
		}
		return p
	}
	for range 6 {
		p := path()
		switch {
		case os.RemoveAll(f.path(p)) != nil, os.MkdirAll(filepath.Dir(f.path(p)), 0o755) != nil: // a file is in the way
		case rng.IntN(4) == 0:
			if err := os.Mkdir(f.path(p), 0o755); err != nil {
				f.Fatal(err)
			}
		default:
			f.write(p, fmt.Sprint(rng.IntN(3)))
		}
	}
}
