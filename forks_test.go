package cairn_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

func (f *fixture) forks() []cairn.ForkInfo {
	f.Helper()
	list, err := f.repo().Forks(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	return list
}

// TestForks: each fork has a count of its changes, and a count of the changes that a merge would bring.
func TestForks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	f.track()
	if list := f.forks(); len(list) > 0 {
		t.Errorf("%+v", list)
	}
	base := t.TempDir()
	one, _ := f.fork(filepath.Join(base, "one"), cairn.ForkOptions{})
	two, _ := f.fork(filepath.Join(base, "two"), cairn.ForkOptions{})
	two.write("a", "2\n")
	two.write("new", "2\n")
	below, _ := two.fork(filepath.Join(base, "below"), cairn.ForkOptions{})
	list := f.forks()
	if len(list) != 2 || string(list[0].Root) != one.root || list[0].Changed+list[0].Unmerged > 0 || string(list[1].Root) != two.root || list[1].Changed != 2 || list[1].Unmerged != 2 || list[1].Error != "" {
		t.Errorf("%+v", list)
	}
	if list := two.forks(); len(list) != 1 || string(list[0].Root) != below.root {
		t.Errorf("of the fork: %+v", list)
	}
	if _, err := f.repo().Merge(t.Context(), cairn.MergeSource{Repo: two.repo()}, cairn.MergeOptions{Paths: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(one.root); err != nil {
		t.Fatal(err)
	}
	if list = f.forks(); !list[0].Missing || list[0].Error != "" || list[1].Unmerged != 1 || list[1].Changed != 2 {
		t.Errorf("after a merge of one file: %+v", list)
	}
	if err := os.WriteFile(filepath.Join(cairn.StorePath(f.data, one.root), "cairn", "forked"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list = f.forks(); len(list) != 1 || string(list[0].Root) != two.root {
		t.Errorf("a damaged record: %+v", list)
	}
}

// TestRemoveFork: a removal refuses to lose anything, and a checkout brings the last state back.
func TestRemoveFork(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("ign\nsame\n"), "a": gittest.File("1\n"), "ign": gittest.File("i"), "same": gittest.File("s")})
	f.track()
	dir := copyPlace(t)
	k, _ := f.fork(dir, cairn.ForkOptions{CheckoutOptions: cairn.CheckoutOptions{WithIgnored: true}})
	k.write("a", "2\n")
	k.write("ign", "of the fork")
	k.write(".git/config", "x")
	want := k.manifest()
	here := f.manifest()
	for _, opt := range []cairn.RemoveForkOptions{{}, {DryRun: true}, {DryRun: true, Force: true}} {
		res, err := f.repo().RemoveFork(t.Context(), dir, opt)
		if opt.DryRun != (err == nil) || err != nil && !errors.Is(err, cairn.ErrUnmerged) {
			t.Fatalf("%+v: %v", opt, err)
		}
		slices.Sort(res.Paths)
		if len(res.Lost) != 1 || res.Lost[0].Path != "a" || !slices.Equal(res.Paths, cairn.Paths{".git", "ign"}) || res.NotSaved.Files != 2 || res.Saved != "" {
			t.Errorf("%+v", res)
		}
		gittest.AssertEqual(t, "the fork", want, k.manifest())
	}
	res, err := f.repo().RemoveFork(t.Context(), dir, cairn.RemoveForkOptions{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v %v", names, err)
	}
	if stores, err := cairn.Stores(f.data); err != nil || len(stores) != 1 {
		t.Errorf("%v %v", stores, err)
	}
	gittest.AssertEqual(t, "the root", here, f.manifest())
	again := copyPlace(t)
	f.checkout(res.Saved, again, cairn.CheckoutOptions{})
	if text, _ := os.ReadFile(filepath.Join(again, "a")); string(text) != "2\n" {
		t.Errorf("brought back: %q", text)
	}
	if _, err := f.repo().RemoveFork(t.Context(), dir, cairn.RemoveForkOptions{}); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("a second time: %v", err)
	}
	if _, err := f.repo().RemoveFork(t.Context(), "", cairn.RemoveForkOptions{Force: true}); !errors.Is(err, cairn.ErrNotFound) || !strings.HasSuffix(err.Error(), "an empty path") {
		t.Errorf("an empty path is the current directory: %v", err)
	}
	if _, err := f.repo().RemoveFork(t.Context(), f.root, cairn.RemoveForkOptions{Force: true}); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("the root itself: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(cairn.StorePath(f.data, f.root), "refs", "cairn", "forks", cairn.ProjectID(dir))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the ref: %v", err)
	}
}

// TestRemoveMergedFork needs no force, nor does the rest of a directory that is gone.
func TestRemoveMergedFork(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.track()
	k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
	k.write("a", "2\n")
	if _, err := f.repo().Merge(t.Context(), cairn.MergeSource{Repo: k.repo()}, cairn.MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	k.closeAll()
	if res, err := f.repo().RemoveFork(t.Context(), k.root, cairn.RemoveForkOptions{}); err != nil || res.Changed != 1 || res.Saved == "" {
		t.Errorf("%+v %v", res, err)
	}
	g, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
	g.write("b", "work\n")
	g.track()
	g.closeAll()
	if err := os.RemoveAll(g.root); err != nil {
		t.Fatal(err)
	}
	if _, err := f.repo().RemoveFork(t.Context(), g.root, cairn.RemoveForkOptions{}); !errors.Is(err, cairn.ErrUnmerged) {
		t.Errorf("%v", err)
	}
	res, err := f.repo().RemoveFork(t.Context(), g.root, cairn.RemoveForkOptions{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if text := readAt(t, f, res.Saved, "b"); text != "work\n" {
		t.Errorf("%q", text)
	}
}

// newRemovalRun is a removal in a process of its own, run over and over.
func newRemovalRun(t *testing.T) (c *crashRun, dir string, want gittest.Listing) {
	t.Helper()
	c = newCrashRun(t)
	dir = copyPlace(t)
	k, _ := c.fork(dir, cairn.ForkOptions{})
	k.write("a", "of the fork\n")
	k.write("sub/new", "of the fork\n")
	want = k.manifest()
	k.track()
	k.closeAll()
	c.closeAll()
	c.old = c.manifest()
	gittest.CopyTree(t, dir, filepath.Join(c.pristine, "fork"))
	gittest.CopyTree(t, c.data, filepath.Join(c.pristine, "data"))
	return c, dir, want
}

// removed checks what a removal that was cut short has left: the directory as it was or none of it, and
// the first store has its state in any case. A second removal ends it.
func (c *crashRun) removed(dir, when string, want gittest.Listing) {
	c.Helper()
	c.checkStore(when)
	gittest.AssertEqual(c.T, "the root, "+when, c.old, c.manifest())
	_, err := os.Lstat(dir)
	if err == nil {
		gittest.AssertEqual(c.T, "the fork, "+when, want, gittest.Manifest(c.T, dir))
	}
	if _, ferr := c.repo().RemoveFork(c.Context(), dir, cairn.RemoveForkOptions{Force: true}); ferr != nil && !errors.Is(ferr, cairn.ErrNotFound) {
		c.Fatalf("%s: a second removal: %v", when, ferr)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		c.Errorf("%s: the directory is there after a second removal: %v", when, err)
	}
	store, saved := cairn.StorePath(c.data, c.root), false
	for id := range strings.FieldsSeq(c.oracle.In(store, "for-each-ref", "--format=%(objectname)", "refs/cairn/imported")) {
		saved = saved || c.oracle.In(store, "cat-file", "-p", id+":sub/new") == "of the fork\n"
	}
	if !saved {
		c.Errorf("%s: the last state of the fork is lost", when)
	}
	c.closeAll()
	if c.Failed() {
		c.FailNow()
	}
}

// TestRemoveForkKilled kills a removal before its write-type system calls.
func TestRemoveForkKilled(t *testing.T) {
	t.Parallel()
	c, dir, want := newRemovalRun(t)
	env := append(c.env("remove-fork"), "CAIRN_TEST_DIR="+dir)
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		gittest.CopyTree(t, filepath.Join(c.pristine, "fork"), dir)
		return gittest.KillAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n)
	}, func(when string) { c.removed(dir, when, want) })
	c.removed(dir, "undisturbed", want)
}

// TestRemoveForkWriteErrors lets one system call fail.
func TestRemoveForkWriteErrors(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			c, dir, want := newRemovalRun(t)
			env := append(c.env("remove-fork"), "CAIRN_TEST_DIR="+dir)
			fail := func(n int, errno syscall.Errno) gittest.Crash {
				c.reset()
				gittest.CopyTree(t, filepath.Join(c.pristine, "fork"), dir)
				return gittest.FailAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n, errno)
			}
			gittest.Failed(t, []syscall.Errno{errno}, gittest.First(), gittest.Stride(), fail, func(when string, crash gittest.Crash) {
				if _, err := os.Lstat(dir); crash.ExitCode == 0 && err == nil {
					t.Errorf("%s: success, and the directory is there", when)
				}
				c.removed(dir, when, want)
			})
		})
	}
}

// TestRemoveForkLocked: LockTimeout bounds the wait for the store of a fork whose directory is gone.
func TestRemoveForkLocked(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.track()
	k, res := f.fork(copyPlace(t), cairn.ForkOptions{})
	k.closeAll()
	if err := os.RemoveAll(k.root); err != nil {
		t.Fatal(err)
	}
	db, err := odb.Open(string(res.Store), k.root, odb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	unlock, err := db.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.closeAll()
	f.opt.LockTimeout = 20 * time.Millisecond
	_, err = f.repo().RemoveFork(t.Context(), k.root, cairn.RemoveForkOptions{})
	assertError(t, err, cairn.ErrLocked)
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.repo().RemoveFork(t.Context(), k.root, cairn.RemoveForkOptions{}); err != nil {
		t.Error(err)
	}
}

// TestMergeOfAForkWithoutALargeFile: a fork begins without a file that no capture holds. A merge of it, or of a fork
// of it, counts as a whole: the next one begins where the last one ended, and nothing is left unmerged.
func TestMergeOfAForkWithoutALargeFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(countTo(30, nil)), "large": gittest.File(strings.Repeat("x", 1000))})
	f.opt.MaxFileSize = 900
	k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
	below, _ := k.fork(copyPlace(t), cairn.ForkOptions{})
	for line, from := range map[int]*fixture{3: k, 20: below} {
		for _, text := range []string{"there\n", "there again\n"} {
			from.write("a", countTo(30, map[int]string{line: text}))
			if res := f.merge(from, cairn.MergeOptions{}); !res.Complete() || len(res.Kept) > 0 {
				t.Errorf("%s%+v", text, res)
			}
		}
	}
	if list := f.forks(); len(list) != 1 || list[0].Unmerged != 0 {
		t.Errorf("%+v", list)
	}
	k.write("large", strings.Repeat("y", 1000))
	k.write("made", strings.Repeat("y", 1000))
	if got, want := reasonsOf(f.merge(k, cairn.MergeOptions{}).Kept), []string{"made: present there but not captured: too large"}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
	k.write("large", "small\n")
	if res := f.merge(k, cairn.MergeOptions{}); !slices.Contains(pathsOfReasons(slices.Concat(res.Kept, res.Conflicts)), "large") {
		t.Errorf("a file that is captured there now: %+v", res)
	}
}

// TestForksWithDamagedTests: where the results of tests cannot be read, the list lacks them and says the rest,
// and the fork can be removed.
func TestForksWithDamagedTests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, copiedTree)
	f.trackAll()
	k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
	k.write("new", "new\n")
	k.closeAll()
	overwrite(t, filepath.Join(cairn.StorePath(k.data, k.root), "refs", "cairn", "tests"), strings.Repeat("1", 40)+"\n")
	list, err := f.repo().Forks(t.Context())
	if err != nil || len(list) != 1 || list[0].Error != "" || list[0].Changed != 1 || list[0].Test != nil {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := f.repo().RemoveFork(t.Context(), k.root, cairn.RemoveForkOptions{Force: true}); err != nil {
		t.Error(err)
	}
}
