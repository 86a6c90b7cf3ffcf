package cairn_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// copyPlace is a path for a copy in a directory that holds nothing else.
func copyPlace(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "copy")
}

func (f *fixture) checkout(spec, dir string, opt cairn.CheckoutOptions) *cairn.CheckoutResult {
	f.Helper()
	res, err := f.repo().Checkout(f.Context(), spec, dir, opt)
	if err != nil {
		f.Fatal(err)
	}
	return res
}

// assertAlone fails if anything lies beside a copy.
func assertAlone(t *testing.T, dir string) {
	t.Helper()
	names, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(names) != 1 || names[0].Name() != filepath.Base(dir) {
		t.Errorf("beside %s: %v %v", dir, names, err)
	}
}

// age makes the files old enough for their stat to prove their contents.
func (f *fixture) age(paths ...string) {
	f.Helper()
	old := time.Now().Add(-time.Hour)
	for _, path := range paths {
		if err := os.Chtimes(f.path(path), old, old); err != nil {
			f.Fatal(err)
		}
	}
}

// settleLive captures until the stat of so many files proves their contents: a file that has just
// changed could change again within one tick of the clock.
func (f *fixture) settleLive(hash string, files int) {
	f.Helper()
	dir := filepath.Join(f.TempDir(), "copy")
	for f.checkout(hash, dir, cairn.CheckoutOptions{DryRun: true}).Live.Files < files {
		if err := f.Context().Err(); err != nil {
			f.Fatal(err)
		}
		f.track()
	}
}

var copiedTree = gittest.Tree{
	"a": gittest.File("one\n"), "run": gittest.Exec("#!/bin/sh\n"), "private": gittest.FileMode("p", 0o600), "empty": gittest.File(""),
	"dir/deep/x": gittest.File("x"), "dir/link": gittest.Link("deep/x"), "dangling": gittest.Link("../nowhere"), "bare": gittest.Dir(),
	"é日": gittest.File("utf"), "big": gittest.File(strings.Repeat("0123456789abcdef", 20_000)), "Case": gittest.File("upper"),
}

func TestCheckoutIsExact(t *testing.T) {
	t.Parallel()
	f := newFixture(t, copiedTree)
	if runtime.GOOS == "linux" {
		f.write("bytes\xff\xfe", "no UTF-8")
		f.write("case", "lower")
	}
	if err := os.Chmod(f.path("dir/deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	hash := f.trackAll()
	want := f.manifest()
	for _, state := range []string{"as tracked", "all changed", "all gone"} {
		switch state {
		case "all changed":
			for path, e := range want {
				if e.Type == 'f' {
					f.write(path, "another "+path)
				}
			}
		case "all gone":
			for path := range want {
				f.remove(path)
			}
		}
		before := f.manifest()
		dir := copyPlace(t)
		res := f.checkout(hash, dir, cairn.CheckoutOptions{})
		if !res.Complete() || res.Cloned.Files+res.Copied.Files+res.Written.Files != res.Files || string(res.Dir) != dir {
			t.Errorf("%s: %+v", state, res)
		}
		gittest.AssertEqual(t, "a copy, "+state, want, gittest.Manifest(t, dir))
		gittest.AssertEqual(t, "the root, "+state, before, f.manifest())
		assertAlone(t, dir)
	}
}

// TestCheckoutOfReadOnlyDirectories: their bits come last, and an attempt that fails can be removed.
func TestCheckoutOfReadOnlyDirectories(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"ro/sub/x": gittest.File("x"), "ro/y": gittest.File("y")})
	for _, dir := range []string{"ro/sub", "ro"} {
		if err := os.Chmod(f.path(dir), 0o555); err != nil {
			t.Fatal(err)
		}
	}
	dir := copyPlace(t)
	t.Cleanup(func() {
		for _, at := range []string{f.path("ro"), f.path("ro/sub"), filepath.Join(dir, "ro"), filepath.Join(dir, "ro/sub")} {
			_ = os.Chmod(at, 0o755)
		}
	})
	hash := f.trackAll()
	f.checkout(hash, dir, cairn.CheckoutOptions{})
	gittest.AssertEqual(t, "the copy", f.manifest(), gittest.Manifest(t, dir))
}

// TestCheckoutTakesLiveFiles: a file with the wanted contents comes from the root, with its time, and
// is another file. One whose stat has changed comes out of the store.
func TestCheckoutTakesLiveFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"same": gittest.File("same\n"), "edited": gittest.File("old\n"), "touched": gittest.File("t\n")})
	f.age("same", "edited", "touched")
	hash := f.trackAll()
	f.settleLive(hash, 3)
	f.write("edited", "new\n")
	if err := os.Chtimes(f.path("touched"), time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	dir := copyPlace(t)
	res := f.checkout(hash, dir, cairn.CheckoutOptions{})
	if live := res.Cloned.Files + res.Copied.Files; live != 1 || res.Written.Files != 2 || res.Bytes != 11 {
		t.Errorf("%+v", res)
	}
	gittest.AssertTree(t, dir, gittest.Tree{"same": gittest.File("same\n"), "edited": gittest.File("old\n"), "touched": gittest.File("t\n")})
	was, err := os.Stat(f.path("same"))
	if err != nil {
		t.Fatal(err)
	}
	is, err := os.Stat(filepath.Join(dir, "same"))
	if err != nil {
		t.Fatal(err)
	}
	if os.SameFile(was, is) || !was.ModTime().Equal(is.ModTime()) {
		t.Errorf("same file %t, times %v and %v", os.SameFile(was, is), was.ModTime(), is.ModTime())
	}
}

// TestCheckoutMakesNoHardLinks: two names of one live file become two files.
func TestCheckoutMakesNoHardLinks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"one": gittest.File("shared")})
	if err := os.Link(f.path("one"), f.path("two")); err != nil {
		t.Skip(err)
	}
	f.age("one")
	dir, hash := copyPlace(t), f.trackAll()
	f.settleLive(hash, 2)
	f.checkout(hash, dir, cairn.CheckoutOptions{})
	if err := os.WriteFile(filepath.Join(dir, "one"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{f.path("one"), filepath.Join(dir, "two")} {
		if text, err := os.ReadFile(path); err != nil || string(text) != "shared" {
			t.Errorf("%s: %q %v", path, text, err)
		}
	}
}

// TestCheckoutNeverFollowsLiveLinks: a link in the place of a live directory leads nowhere.
func TestCheckoutNeverFollowsLiveLinks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"d/x": gittest.File("right")})
	f.age("d/x")
	hash := f.trackAll()
	f.settleLive(hash, 1)
	if err := os.Rename(f.path("d"), f.path("moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("moved", f.path("d")); err != nil {
		t.Skip(err)
	}
	dir := copyPlace(t)
	if res := f.checkout(hash, dir, cairn.CheckoutOptions{}); res.Written.Files != 1 {
		t.Errorf("%+v", res)
	}
	gittest.AssertTree(t, dir, gittest.Tree{"d/x": gittest.File("right")})
}

func TestCheckoutWithIgnored(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		".gitignore": gittest.File("node_modules/\n.env\n*.log\n"), "src/a.go": gittest.File("a"), "src/.env": gittest.File("secret"),
		"node_modules/m/index.js": gittest.File("m"), "node_modules/m/none": gittest.Dir(), "node_modules/.bin/m": gittest.Link("../m/index.js"),
		"node_modules/m/run": gittest.Exec("r"), "node_modules/nested/.git/HEAD": gittest.File("ref: refs/heads/main\n"), "out.log": gittest.File("log"),
	})
	f.opt.MaxFileSize = 2000
	f.write("huge", strings.Repeat("h", 3000))
	f.age("node_modules/m/index.js")
	hash := f.track().Hash
	f.write("later", "not ignored, and not at the checkpoint")
	whole := f.manifest()
	for path := range whole {
		if path == "later" || strings.HasPrefix(path, "node_modules/nested/.git") {
			delete(whole, path)
		}
	}
	dir := copyPlace(t)
	res := f.checkout(hash, dir, cairn.CheckoutOptions{WithIgnored: true})
	gittest.AssertEqual(t, "the copy", whole, gittest.Manifest(t, dir))
	if res.Ignored.Files != 6 || !res.Complete() || len(res.LeftOut) != 1 || res.LeftOut[0].Path != "node_modules/nested/.git" {
		t.Errorf("%+v", res)
	}
	was, _ := os.Stat(f.path("node_modules/m/index.js"))
	is, _ := os.Stat(filepath.Join(dir, "node_modules/m/index.js"))
	if !was.ModTime().Equal(is.ModTime()) {
		t.Error("the time of an ignored file has changed")
	}

	some := copyPlace(t)
	res = f.checkout(hash, some, cairn.CheckoutOptions{WithIgnored: true, Ignored: []string{"/src", "node_modules/m/*", "!run"}})
	got := gittest.Manifest(t, some)
	for path, want := range map[string]bool{
		"src/.env": true, "node_modules/m/index.js": true, "node_modules/m/none": true, "node_modules/m/run": false,
		"node_modules/.bin": false, "out.log": false, "huge": false, "src/a.go": true,
	} {
		if _, there := got[path]; there != want {
			t.Errorf("%s: there %t", path, there)
		}
	}
	if len(res.LeftOut) != 1 || res.LeftOut[0].Path != "huge" {
		t.Errorf("left out: %+v", res.LeftOut)
	}
}

func TestCheckoutPlan(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("ign\n"), "a": gittest.File("12345"), "b": gittest.File("123"), "ign": gittest.File("1234567")})
	f.age("a", "b", ".gitignore")
	hash := f.trackAll()
	f.settleLive(hash, 3)
	f.write("b", "now another")
	dir := copyPlace(t)
	res := f.checkout(hash, dir, cairn.CheckoutOptions{WithIgnored: true, DryRun: true})
	if res.Files != 3 || res.Bytes != 12 || res.Ignored != (cairn.CopyAmount{Files: 1, Bytes: 7}) || res.Written != (cairn.CopyAmount{Files: 1, Bytes: 3}) ||
		res.Live != (cairn.CopyAmount{Files: 3, Bytes: 16}) {
		t.Errorf("%+v", res)
	}
	if names, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(names) > 0 {
		t.Errorf("a plan made %v, %v", names, err)
	}
}

func TestCheckoutRefusesPlaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	hash := f.trackAll()
	base := t.TempDir()
	gittest.Create(t, base, gittest.Tree{"full/x": gittest.File("x"), "file": gittest.File("x"), "empty": gittest.Dir(), "repo/.git": gittest.Dir()})
	places := map[string]string{
		"not empty": filepath.Join(base, "full"), "a file": filepath.Join(base, "file"), "no parent": filepath.Join(base, "no", "where"),
		"the root": f.root, "inside the root": f.path("sub"), "the data": filepath.Join(f.data, "copy"), "a git directory": filepath.Join(base, "repo", ".git", "copy"), "nothing": "",
	}
	if os.Symlink("empty", filepath.Join(base, "link")) == nil {
		places["a link"] = filepath.Join(base, "link")
	}
	before := gittest.Manifest(t, base)
	for what, dir := range places {
		if _, err := f.repo().Checkout(t.Context(), hash, dir, cairn.CheckoutOptions{}); !errors.Is(err, cairn.ErrPlace) {
			t.Errorf("%s: %v", what, err)
		}
	}
	gittest.AssertEqual(t, "the places", before, gittest.Manifest(t, base))
	if _, err := f.repo().Checkout(t.Context(), "deadbeef", filepath.Join(base, "copy"), cairn.CheckoutOptions{}); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("no checkpoint: %v", err)
	}
	f.checkout(hash, filepath.Join(base, "empty"), cairn.CheckoutOptions{})
	gittest.AssertTree(t, filepath.Join(base, "empty"), gittest.Tree{"a": gittest.File("a")})
}

// TestCheckoutLeavesDeniedOut: a denied path does not come back out of an older checkpoint.
func TestCheckoutLeavesDeniedOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a"), "key.pem": gittest.File("k")})
	hash := f.trackAll()
	f.opt.Never = []string{"*.pem"}
	dir := copyPlace(t)
	res := f.checkout(hash, dir, cairn.CheckoutOptions{})
	if len(res.Conflicts) != 1 || res.Conflicts[0].Path != "key.pem" {
		t.Errorf("%+v", res)
	}
	gittest.AssertTree(t, dir, gittest.Tree{"a": gittest.File("a")})
}

func TestCheckoutEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f := newFixture(t, copiedTree)
	hash := f.trackAll()
	ctx, cancel := context.WithCancel(t.Context())
	f.opt.Progress = func(p cairn.Progress) {
		if p.Phase == "apply" {
			cancel()
		}
	}
	dir := copyPlace(t)
	if _, err := f.repo().Checkout(ctx, hash, dir, cairn.CheckoutOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if names, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// TestCheckoutOnAFullDisk leaves nothing, and says that it is not the store that lacks room.
func TestCheckoutOnAFullDisk(t *testing.T) {
	t.Parallel()
	if !gittest.Isolated(t) {
		return
	}
	disk := gittest.SmallDisk(t, 256<<10)
	f := newFixture(t, gittest.Tree{"big": gittest.File(string(gittest.Noise(1, 1<<20))), "a": gittest.File("a")})
	hash := f.trackAll()
	_, err := f.repo().Checkout(t.Context(), hash, filepath.Join(disk, "copy"), cairn.CheckoutOptions{})
	if !errors.Is(err, cairn.ErrNoSpace) || strings.Contains(err.Error(), "the store") || !strings.Contains(err.Error(), disk) {
		t.Errorf("%v", err)
	}
	if names, err := os.ReadDir(disk); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// TestCheckoutWhereCaseIsIgnored: of two names that are one there, one comes and the other is a
// conflict.
func TestCheckoutWhereCaseIsIgnored(t *testing.T) {
	t.Parallel()
	blind := gittest.CaseBlindDir(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("a"), "README": gittest.File("upper"), "readme": gittest.File("lower"), "D/x": gittest.File("x"), "d/y": gittest.File("y")})
	hash := f.trackAll()
	dir := filepath.Join(blind, "copy")
	res := f.checkout(hash, dir, cairn.CheckoutOptions{})
	if len(res.Conflicts) != 3 || res.Complete() { // readme, d and d/y
		t.Errorf("%+v", res)
	}
	for path, want := range map[string]string{"a": "a", "README": "upper", "D/x": "x"} {
		if text, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(text) != want {
			t.Errorf("%s: %q %v", path, text, err)
		}
	}
}

// checkoutRun is a checkout in a process of its own, run over and over.
func newCheckoutRun(t *testing.T) (c *crashRun, dir string, want gittest.Listing) {
	t.Helper()
	c = newCrashRun(t)
	dir = copyPlace(t)
	c.write(".gitignore", "ign\n")
	c.write("ign/x", "ignored")
	c.age("ptr", "perm")
	gittest.CopyTree(t, c.root, filepath.Join(c.pristine, "root"))
	c.old = c.manifest()
	c.checkout(c.before, dir, cairn.CheckoutOptions{WithIgnored: true})
	want = gittest.Manifest(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	gittest.CopyTree(t, c.data, filepath.Join(c.pristine, "data"))
	return c, dir, want
}

// wholeOrNone fails unless a copy is whole or absent.
func wholeOrNone(t *testing.T, dir string, want gittest.Listing) {
	t.Helper()
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return
	}
	gittest.AssertEqual(t, "the copy", want, gittest.Manifest(t, dir))
}

// TestCheckoutKilled kills a checkout before its write-type system calls: the copy is whole or
// absent, the root is as it was, and the next checkout removes what was left.
func TestCheckoutKilled(t *testing.T) {
	t.Parallel()
	c, dir, want := newCheckoutRun(t)
	env := append(c.env("checkout"), "CAIRN_TEST_DIR="+dir)
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		return gittest.KillAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n)
	}, func(when string) {
		wholeOrNone(t, dir, want)
		gittest.AssertEqual(t, "the root", c.old, c.manifest())
		c.checkStore(when)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		c.checkout(c.before, dir, cairn.CheckoutOptions{WithIgnored: true})
		gittest.AssertEqual(t, "the next copy", want, gittest.Manifest(t, dir))
		assertAlone(t, dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	})
	gittest.AssertEqual(t, "the undisturbed copy", want, gittest.Manifest(t, dir))
	c.checkStore("undisturbed")
}

// TestCheckoutWriteErrors lets one system call fail: either the checkout succeeds, or it says so and
// leaves no copy.
func TestCheckoutWriteErrors(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			c, dir, want := newCheckoutRun(t)
			env := append(c.env("checkout"), "CAIRN_TEST_DIR="+dir)
			fail := func(n int, errno syscall.Errno) gittest.Crash {
				c.reset()
				return gittest.FailAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n, errno)
			}
			gittest.Failed(t, []syscall.Errno{errno}, gittest.First(), gittest.Stride(), fail, func(when string, crash gittest.Crash) {
				wholeOrNone(t, dir, want)
				if _, err := os.Lstat(dir); crash.ExitCode == 0 && err != nil {
					t.Errorf("%s: success without a copy", when)
				}
				gittest.AssertEqual(t, "the root", c.old, c.manifest())
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// TestCheckoutBelowAnIgnoredDirectory: the root may hold copies that no capture sees. Anywhere else in
// it there is no place.
func TestCheckoutBelowAnIgnoredDirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		".gitignore": gittest.File("/copies/\n/only\nhalf/*\n!half/kept\n"), "a": gittest.File("a"), "sub/.gitignore": gittest.File("tmp\n"), "sub/b": gittest.File("b"),
		"copies/note": gittest.File("ignored"), "half/x": gittest.File("x"), "seen": gittest.Dir(),
	})
	hash := f.trackAll()
	want := gittest.Tree{".gitignore": gittest.File("/copies/\n/only\nhalf/*\n!half/kept\n"), "a": gittest.File("a"), "sub/.gitignore": gittest.File("tmp\n"), "sub/b": gittest.File("b"), "seen": gittest.Dir(), "half": gittest.Dir()}
	if err := os.MkdirAll(f.path("sub/tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"copies/try", "sub/tmp/try", "half/try"} {
		f.checkout(hash, f.path(dir), cairn.CheckoutOptions{})
		gittest.AssertTree(t, f.path(dir), want)
	}
	if again := f.trackAll(); again != hash {
		t.Errorf("a capture sees the copies: %s, before %s", again, hash)
	}
	for _, dir := range []string{"only", "half/kept", "seen/try", "sub/try", "tmp"} {
		if _, err := f.repo().Checkout(t.Context(), hash, f.path(dir), cairn.CheckoutOptions{}); !errors.Is(err, cairn.ErrPlace) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	f.opt.Include = []string{".env*"}
	if _, err := f.repo().Checkout(t.Context(), hash, f.path("copies/second"), cairn.CheckoutOptions{}); !errors.Is(err, cairn.ErrPlace) {
		t.Errorf("where include leads: %v", err)
	}
	f.opt.Include = []string{".env*", "!/copies/"}
	f.checkout(hash, f.path("copies/second"), cairn.CheckoutOptions{})
}

// TestCheckoutWithIgnoredBesideItself: other files of the ignored directory come along, but not the copy
// itself, nor one that is being made.
func TestCheckoutWithIgnoredBesideItself(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("/copies/\n"), "a": gittest.File("a"), "copies/note": gittest.File("n"), "copies/try": gittest.Dir(), "copies/.x.cairn-12/tree/half": gittest.File("h")})
	res := f.checkout(f.trackAll(), f.path("copies/try"), cairn.CheckoutOptions{WithIgnored: true})
	gittest.AssertTree(t, f.path("copies/try"), gittest.Tree{".gitignore": gittest.File("/copies/\n"), "a": gittest.File("a"), "copies/note": gittest.File("n")})
	if len(res.LeftOut) != 1 || res.LeftOut[0].Path != "copies/.x.cairn-12" || !res.Complete() {
		t.Errorf("%+v", res)
	}
}
