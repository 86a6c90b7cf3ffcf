package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
)

// lendingFixture is a root with a clean repository of 200 files, packed, whose index
// is younger than its files by as much as borrowing asks for.
func lendingFixture(t *testing.T) (*fixture, *gittest.Oracle) {
	t.Helper()
	o := gittest.NewOracle(t)
	lender.once.Do(func() { makeLender(t, o, lender.dir) })
	f := newFixture(t, nil)
	if err := os.CopyFS(f.root, os.DirFS(lender.dir)); err != nil {
		t.Fatal(err)
	}
	o.In(f.root, "update-index", "-q", "--refresh")
	f.ageIndex(".git/index")
	return f, o
}

// lender is what every lendingFixture is a copy of: it is made once, because git writes
// hundreds of files on the way to one pack. TestMain gives it a directory.
var lender struct {
	once sync.Once
	dir  string
}

// looseLender is the same for tests of loose objects.
var looseLender struct {
	once sync.Once
	dir  string
}

func makeLender(t *testing.T, o *gittest.Oracle, dir string) {
	t.Helper()
	tree := gittest.Tree{"link": gittest.Link("d0/f0"), "run": gittest.Exec("#!/bin/sh\n")}
	for i := range 200 {
		tree[fmt.Sprintf("d%d/f%d", i%7, i)] = gittest.File(fmt.Sprintf("file %d\n%s", i, strings.Repeat("line\n", i)))
	}
	gittest.Create(t, dir, tree)
	o.Init(dir)
	o.Commit(dir, "one")
	o.In(dir, "gc", "-q")
}

// ageIndex makes an index look as if it had been written long after the files.
func (f *fixture) ageIndex(index string) {
	f.Helper()
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(f.path(index), later, later); err != nil {
		f.Fatal(err)
	}
}

// borrowedPacks lists the packs of the store that it shares with others, and counts
// the objects in its own.
func (f *fixture) borrowedPacks(o *gittest.Oracle) (borrowed []string, own int) {
	f.Helper()
	dir := filepath.Join(f.repo().StoreDir(), "objects", "pack")
	packs, err := filepath.Glob(filepath.Join(dir, "*.idx"))
	if err != nil {
		f.Fatal(err)
	}
	for _, idx := range packs {
		stem := strings.TrimSuffix(idx, ".idx")
		if _, err := os.Stat(stem + ".keep"); err == nil {
			borrowed = append(borrowed, stem+".pack")
			continue
		}
		for line := range strings.Lines(o.Git("verify-pack", "-v", idx)) {
			if fields := strings.Fields(line); len(fields) >= 5 && len(fields[0]) == 40 {
				own++
			}
		}
	}
	return borrowed, own
}

func TestBorrow(t *testing.T) {
	t.Parallel()
	f, o := lendingFixture(t)
	f.opt.NoGit = true // a record of git adds objects of its own
	want := f.manifest()
	hash := f.trackAll()
	if tree := o.WriteTree(f.root); hash != tree {
		t.Errorf("tree %s, git says %s", hash, tree)
	}
	borrowed, own := f.borrowedPacks(o)
	if len(borrowed) != 1 || own > 1 {
		t.Errorf("borrowed %v, and %d objects were written; want 1 pack, and the commit alone", borrowed, own)
	}
	o.Fsck(f.repo().StoreDir())
	f.remove("d1")
	f.write("d2/f2", "edited\n")
	f.restoreAll(hash)
	gittest.AssertEqual(t, "restored", want, f.manifest())
}

// R65: the user's gc, rewritten history and the end of the repository take nothing
// away.
func TestR65_BorrowedObjectsOutliveTheLender(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(f *fixture, o *gittest.Oracle){
		"gc after a rewrite": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "checkout", "-q", "--orphan", "other")
			o.In(f.root, "rm", "-rfq", ".")
			o.In(f.root, "commit", "-q", "--allow-empty", "-m", "nothing")
			o.In(f.root, "branch", "-D", "main")
			o.In(f.root, "reflog", "expire", "--expire=now", "--all")
			o.In(f.root, "gc", "-q", "--prune=now")
		},
		"removed": func(f *fixture, _ *gittest.Oracle) {
			f.remove(".git")
			f.remove("d3")
		},
		"packs overwritten in place of a repack": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "repack", "-adfq", "--depth=1", "--window=1")
			f.remove("d4")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, o := lendingFixture(t)
			f.T = t
			want := f.manifest()
			hash := f.trackAll()
			harm(f, o)
			f.restoreAll(hash)
			got := f.manifest()
			if diff := gittest.Diff(outsideGit(want), outsideGit(got)); diff != "" {
				t.Error(diff)
			}
			o.Fsck(f.repo().StoreDir())
		})
	}
}

// outsideGit leaves out the repository.
func outsideGit(l gittest.Listing) gittest.Listing {
	out := make(gittest.Listing)
	for path, e := range l {
		if path != ".git" && !strings.HasPrefix(path, ".git/") && path != "." && path != "" {
			out[path] = e
		}
	}
	return out
}

// What git says about a file must not be believed where git itself looks away, or
// stores something else than lies on disk.
func TestBorrowTraps(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, trap := range map[string]func(f *fixture, o *gittest.Oracle){
		"assume unchanged": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "update-index", "--assume-unchanged", "d0/f0")
			f.write("d0/f0", "FILE 0\n")
		},
		"skip worktree": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "update-index", "--skip-worktree", "d0/f0")
			f.write("d0/f0", "FILE 0\n")
		},
		"edited, with the old times": func(f *fixture, _ *gittest.Oracle) {
			info, err := os.Stat(f.path("d0/f0"))
			if err != nil {
				f.Fatal(err)
			}
			f.write("d0/f0", "FILE 0\n")
			if err := os.Chtimes(f.path("d0/f0"), info.ModTime(), info.ModTime()); err != nil {
				f.Fatal(err)
			}
		},
		"replaced by a link": func(f *fixture, _ *gittest.Oracle) {
			f.remove("d0/f0")
			if err := os.Symlink("file 0\n", f.path("d0/f0")); err != nil {
				f.Fatal(err)
			}
		},
		"made executable": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "config", "core.fileMode", "false")
			if err := os.Chmod(f.path("d0/f0"), 0o755); err != nil {
				f.Fatal(err)
			}
		},
		"filter that keeps the size": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "config", "filter.turn.clean", "tr a-z n-za-m")
			o.In(f.root, "config", "filter.turn.smudge", "tr a-z n-za-m")
			f.write(".gitattributes", "d1/f[18] filter=turn\n")
			f.commitAgain(o)
		},
		"filter by a macro": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "config", "filter.turn.clean", "tr a-z n-za-m")
			f.write(".gitattributes", "[attr]turned filter=turn\nd1/f[18] turned\n")
			f.commitAgain(o)
		},
		"filter by a quoted pattern": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "config", "filter.turn.clean", "tr a-z n-za-m")
			f.write(".gitattributes", "\"d1/f[18]\" filter=turn\n")
			f.commitAgain(o)
		},
		"filter in a directory of its own": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "config", "filter.turn.clean", "tr a-z n-za-m")
			f.write("d1/.gitattributes", "f[18] filter=turn\n")
			f.commitAgain(o)
		},
		"filter by info/attributes": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "config", "filter.turn.clean", "tr a-z n-za-m")
			f.write(".git/info/attributes", "f1? filter=turn\n")
			f.commitAgain(o)
		},
		"filter by core.attributesFile": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "config", "filter.turn.clean", "tr a-z n-za-m")
			o.In(f.root, "config", "core.attributesFile", ".git/mine")
			f.write(".git/mine", "f1? filter=turn\n")
			f.commitAgain(o)
		},
		"attributes that are not checked out": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "config", "filter.turn.clean", "tr a-z n-za-m")
			f.write("d1/.gitattributes", "f[18] filter=turn\n")
			f.commitAgain(o)
			f.remove("d1/.gitattributes")
		},
		"LFS pointers": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "config", "filter.lfs.clean", "sha256sum")
			f.write(".gitattributes", "f1? filter=lfs diff=lfs merge=lfs -text\n")
			f.commitAgain(o)
		},
		"line ends": func(f *fixture, o *gittest.Oracle) {
			f.write(".gitattributes", "* text=auto\n")
			for i := range 20 {
				f.write(fmt.Sprintf("crlf/f%d", i), "one\r\ntwo\r\n")
			}
			f.commitAgain(o)
		},
		"autocrlf": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "config", "core.autocrlf", "true")
			o.In(f.root, "config", "core.safecrlf", "false")
			f.write("crlf/f", "one\r\ntwo\r\n")
			f.commitAgain(o)
		},
		"ident": func(f *fixture, o *gittest.Oracle) {
			f.write(".gitattributes", "id/* ident\n")
			f.write("id/f", "$Id: something $\n")
			f.commitAgain(o)
		},
		"encoding of the same size": func(f *fixture, o *gittest.Oracle) {
			f.write(".gitattributes", "utf16 text working-tree-encoding=UTF-16LE\n")
			// Two bytes each in UTF-16 and in UTF-8.
			f.write("utf16", "\xe9\x00\xe8\x00\xe0\x00")
			f.commitAgain(o)
		},
		"intent to add": func(f *fixture, o *gittest.Oracle) {
			f.write("later", "")
			f.write("later2", "x")
			o.In(f.root, "add", "-N", "later", "later2")
		},
		"merge conflict": func(f *fixture, o *gittest.Oracle) {
			o.In(f.root, "checkout", "-qb", "side")
			f.write("d0/f0", "side\n")
			f.commitAgain(o)
			o.In(f.root, "checkout", "-q", "main")
			f.write("d0/f0", "main\n")
			f.commitAgain(o)
			if out, err := o.Try(f.root, "merge", "side"); err == nil {
				f.Fatalf("no conflict: %s", out)
			}
		},
		"split index":     func(f *fixture, o *gittest.Oracle) { o.In(f.root, "update-index", "--split-index") },
		"index version 4": func(f *fixture, o *gittest.Oracle) { o.In(f.root, "update-index", "--index-version", "4") },
		"broken index": func(f *fixture, o *gittest.Oracle) {
			f.write(".git/index", "DIRC, or so it says")
		},
		"no objects": func(f *fixture, o *gittest.Oracle) {
			for _, path := range []string{".git/objects/pack", ".git/objects/info"} {
				f.remove(path)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, o := lendingFixture(t)
			f.T = t
			trap(f, o)
			f.ageIndex(".git/index")
			f.trackedExactly()
		})
	}
}

// commitAgain commits everything, and new contents with it, so that what applies to
// them now has been applied.
func (f *fixture) commitAgain(o *gittest.Oracle) {
	f.Helper()
	for _, path := range []string{"d1/f1", "d1/f8", "d3/f10", "d3/f17"} {
		f.write(path, "new contents of "+path+"\n")
	}
	o.In(f.root, "add", "-A")
	o.In(f.root, "commit", "-qm", "more")
	o.In(f.root, "repack", "-adq")
}

// trackedExactly compares the first track of a fixture with one that reads everything,
// and what a restore makes of it with the disk as it was.
func (f *fixture) trackedExactly() {
	f.Helper()
	got := f.track()
	apart := f.opt
	apart.DataDir, apart.NoBorrow = filepath.Join(f.TempDir(), "apart"), true
	r, err := cairn.Open(apart)
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	want, err := r.Track(f.Context(), cairn.TrackOptions{})
	if err != nil {
		f.Fatal(err)
	}
	if got.Hash != want.Hash || got.Files != want.Files {
		f.Errorf("borrowing gives tree %s of %d files, reading %s of %d", got.Hash, got.Files, want.Hash, want.Files)
	}
	before := outsideGit(f.manifest())
	for _, dir := range []string{"d0", "d1", "crlf", "id"} {
		f.remove(dir)
	}
	f.restoreAll(got.Hash)
	if diff := gittest.Diff(before, outsideGit(f.manifest())); diff != "" {
		f.Error(diff)
	}
}

// Shapes of repositories: each is tracked as if it were none.
func TestBorrowShapes(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, shape := range map[string]func(f *fixture, o *gittest.Oracle) (root, index string){
		"linked worktree": func(f *fixture, o *gittest.Oracle) (string, string) {
			at := filepath.Join(f.TempDir(), "linked")
			o.In(f.root, "worktree", "add", "-q", at)
			return at, f.path(".git/worktrees/linked/index")
		},
		"shallow clone": func(f *fixture, o *gittest.Oracle) (string, string) {
			f.write("more", "more\n")
			f.commitAgain(o)
			return f.clone(o, "--depth=1")
		},
		"partial clone": func(f *fixture, o *gittest.Oracle) (string, string) {
			o.In(f.root, "config", "uploadpack.allowFilter", "true")
			o.In(f.root, "config", "uploadpack.allowAnySHA1InWant", "true")
			return f.clone(o, "--filter=blob:none")
		},
		"clone with alternates": func(f *fixture, o *gittest.Oracle) (string, string) {
			at := filepath.Join(f.TempDir(), "clone")
			o.In(f.root, "clone", "-q", "--shared", ".", at)
			return at, filepath.Join(at, ".git/index")
		},
		"sparse index": func(f *fixture, o *gittest.Oracle) (string, string) {
			o.In(f.root, "sparse-checkout", "init", "--cone", "--sparse-index")
			o.In(f.root, "sparse-checkout", "set", "d0", "d1", "d2")
			return f.root, f.path(".git/index")
		},
		"submodule": func(f *fixture, o *gittest.Oracle) (string, string) {
			o.In(f.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f.root, "sub")
			f.commitAgain(o)
			return f.root, f.path(".git/index")
		},
		"sub-directory": func(f *fixture, _ *gittest.Oracle) (string, string) {
			return f.path("d1"), f.path(".git/index")
		},
		"SHA-256": func(f *fixture, o *gittest.Oracle) (string, string) {
			f.remove(".git")
			o.In(f.root, "init", "-q", "--object-format=sha256")
			f.commitAgain(o)
			return f.root, f.path(".git/index")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, o := lendingFixture(t)
			f.T = t
			root, index := shape(f, o)
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(index, later, later); err != nil {
				t.Fatal(err)
			}
			f.root, f.opt.Root = root, root
			f.trackedExactly()
			o.Fsck(f.repo().StoreDir())
		})
	}
}

func (f *fixture) clone(o *gittest.Oracle, how ...string) (root, index string) {
	f.Helper()
	at := filepath.Join(f.TempDir(), "clone")
	o.In(f.root, append(append([]string{"-c", "protocol.file.allow=always", "clone", "-q"}, how...), "file://"+f.root, at)...)
	return at, filepath.Join(at, ".git", "index")
}

// A loan that was cut short leaves nothing behind, and the next one succeeds.
func TestBorrowCutShort(t *testing.T) {
	t.Parallel()
	f, o := lendingFixture(t)
	hash := f.trackAll()
	borrowed, _ := f.borrowedPacks(o)
	if len(borrowed) != 1 {
		t.Fatalf("borrowed %v", borrowed)
	}
	stem := strings.TrimSuffix(borrowed[0], ".pack")
	if err := os.Remove(stem + ".idx"); err != nil {
		t.Fatal(err)
	}
	f.remove(".git")
	if got := f.trackAll(); got != hash {
		t.Errorf("tree %s after the loss of a pack, want %s", got, hash)
	}
	for _, ext := range []string{".pack", ".keep"} {
		if _, err := os.Lstat(stem + ext); err == nil {
			t.Errorf("%s is left behind", stem+ext)
		}
	}
	o.Fsck(f.repo().StoreDir())
}

// Objects that must not be in the store are not borrowed either, not even after a
// purge.
func TestBorrowNothingDenied(t *testing.T) {
	t.Parallel()
	f, o := lendingFixture(t)
	f.opt.Never = []string{"*.pem"}
	f.track()
	if borrowed, _ := f.borrowedPacks(o); len(borrowed) > 0 {
		t.Errorf("with a deny list: %v", borrowed)
	}
	f.opt.Never = nil
	f.opt.DataDir = filepath.Join(t.TempDir(), "other")
	f.trackAll()
	if borrowed, _ := f.borrowedPacks(o); len(borrowed) != 1 {
		t.Fatalf("borrowed %v", borrowed)
	}
	if _, err := f.repo().Purge(t.Context(), []string{"d1/f1"}); err != nil {
		t.Fatal(err)
	}
	f.track()
	if borrowed, _ := f.borrowedPacks(o); len(borrowed) > 0 {
		t.Errorf("after a purge: %v", borrowed)
	}
}

// A borrowed pack takes no room until the lender drops it.
func TestBorrowTakesNoRoom(t *testing.T) {
	t.Parallel()
	f, o := lendingFixture(t)
	f.trackAll()
	borrowed, _ := f.borrowedPacks(o)
	info, err := os.Stat(borrowed[0])
	if err != nil {
		t.Fatal(err)
	}
	before, err := retention.SizeOf(f.repo().StoreDir())
	if err != nil {
		t.Fatal(err)
	}
	f.remove(".git")
	after, err := retention.SizeOf(f.repo().StoreDir())
	if err != nil {
		t.Fatal(err)
	}
	if after-before < info.Size() {
		t.Errorf("%d bytes with the lender, %d without, of which the pack has %d", before, after, info.Size())
	}
}
