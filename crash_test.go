package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
)

// crashTree and edits make a restore that does a bit of everything.
var crashTree = gittest.Tree{
	"a": gittest.File("one\n"), "perm": gittest.FileMode("p", 0o600), "gone": gittest.File("g"), "dir/x": gittest.File("x"),
	"dir/y": gittest.Exec("y"), "link": gittest.Link("a"), "empty": gittest.Dir(), "swap": gittest.File("s"), "ptr/in": gittest.File("i"),
}

func crashEdits(f *fixture) {
	f.write("a", "two\n")
	os.Chmod(f.path("perm"), 0o644)
	f.remove("gone")
	f.remove("dir")
	f.remove("link")
	f.write("link", "a file now")
	f.remove("empty")
	f.remove("swap")
	f.write("swap/deep/er", "a directory now")
	f.remove("ptr")
	os.Symlink("swap", f.path("ptr"))
	f.write("made/new", "n")
	f.write("big", strings.Repeat("b", 3000))
}

// crashRun is a command in a process of its own, run over and over from the same
// starting point.
type crashRun struct {
	*fixture
	oracle   *gittest.Oracle
	pristine string // copies of root and data
	before   string
	old, new gittest.Listing
}

func newCrashRun(t *testing.T) *crashRun {
	t.Helper()
	c := &crashRun{fixture: newFixture(t, crashTree), oracle: gittest.NewOracle(t), pristine: t.TempDir()}
	c.opt.MaxFileSize = 2000
	c.before = c.trackAll()
	c.new = c.manifest()
	crashEdits(c.fixture)
	c.track()
	c.write("a", "three, not tracked yet\n")
	c.old = c.manifest()
	gittest.CopyTree(t, c.root, filepath.Join(c.pristine, "root"))
	gittest.CopyTree(t, c.data, filepath.Join(c.pristine, "data"))
	return c
}

func (c *crashRun) reset() {
	gittest.CopyTree(c.T, filepath.Join(c.pristine, "root"), c.root)
	gittest.CopyTree(c.T, filepath.Join(c.pristine, "data"), c.data)
}

func (c *crashRun) env(command string) []string {
	return append(os.Environ(), "CAIRN_TEST_COMMAND="+command, "CAIRN_TEST_ROOT="+c.root, "CAIRN_TEST_DATA="+c.data, "CAIRN_TEST_HASH="+c.before, "GOMAXPROCS=2")
}

// commandAsProcess is the process that gets killed.
func commandAsProcess(command string) int {
	opt := cairn.Options{Root: os.Getenv("CAIRN_TEST_ROOT"), DataDir: os.Getenv("CAIRN_TEST_DATA"), MaxFileSize: 2000, Sign: os.Getenv("CAIRN_TEST_KEY"), Identity: os.Getenv("CAIRN_TEST_IDENTITY"), Sealer: sealed.Age{}, Watch: command == "fold" || command == "packs"}
	if command == "roll" {
		opt.MaxFileSize, opt.Retention = 0, limitedTo(crashBudget)
	}
	r, err := cairn.Open(opt)
	if err == nil {
		defer r.Close()
		switch command {
		case "track":
			_, err = r.Track(background, cairn.TrackOptions{})
		case "restore":
			var res *cairn.Result
			if res, err = r.Restore(background, os.Getenv("CAIRN_TEST_HASH"), cairn.RestoreOptions{}); err == nil && !res.Complete() {
				err = fmt.Errorf("incomplete: %+v", res)
			}
		case "fold":
			err = foldAsProcess(r)
		case "packs":
			err = foldPacksAsProcess(r)
		case "roll":
			_, err = r.Track(background, cairn.TrackOptions{})
		case "git-revert", "git-undo":
			err = gitAsProcess(r, command)
		case "checkout":
			var res *cairn.CheckoutResult
			res, err = r.Checkout(background, os.Getenv("CAIRN_TEST_HASH"), os.Getenv("CAIRN_TEST_DIR"), cairn.CheckoutOptions{WithIgnored: true})
			if err == nil && !res.Complete() {
				err = fmt.Errorf("incomplete: %+v", res)
			}
		case "remove-fork":
			_, err = r.RemoveFork(background, os.Getenv("CAIRN_TEST_DIR"), cairn.RemoveForkOptions{Force: true})
		case "fork":
			_, err = r.Fork(background, os.Getenv("CAIRN_TEST_DIR"), cairn.ForkOptions{GitWorktree: os.Getenv("CAIRN_TEST_GIT") != ""})
		case "merge":
			err = mergeAsProcess(r)
		case "fetch":
			err = fetchAsProcess(r)
		case "push":
			_, err = r.Push(background, os.Getenv("CAIRN_TEST_REMOTE"))
		case "purge-secrets":
			_, err = r.PurgeSecrets(background, cairn.PurgeSecretsOptions{})
		case "undo":
			_, err = r.Undo(background, cairn.RevertOptions{})
		case "thin":
			_, err = r.Clean(background, thinToday)
		case "sign":
			_, err = r.Sign(background)
		case "purge":
			_, err = r.Purge(background, []string{filepath.Join(opt.Root, "perm")})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestR93_KilledInATrack kills a track before its write-type system calls.
func TestR93_KilledInATrack(t *testing.T) {
	t.Parallel()
	c := newCrashRun(t)
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		return gittest.KillAt(t, []string{os.Args[0]}, c.env("track"), gittest.WriteCalls, n)
	}, func(when string) {
		c.checkStore(when)
		gittest.AssertEqual(t, "the work tree", c.old, c.manifest())
		got := c.track()
		if text := readAt(t, c.fixture, got.Hash, "a"); text != "three, not tracked yet\n" {
			t.Fatalf("%s: retry captured %q", when, text)
		}
		c.checkStore("retry, " + when)
	})
}

// TestR92_KilledInARestore does the same to a restore: the next command finishes it or
// finds nothing done, and everything that was on disk can still be restored.
func TestR92_KilledInARestore(t *testing.T) {
	t.Parallel()
	c := newCrashRun(t)
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		return gittest.KillAt(t, []string{os.Args[0]}, c.env("restore"), gittest.WriteCalls, n)
	}, func(when string) {
		c.checkStore(when)
		c.track() // the next command, whatever it is
		state := c.manifest()
		if gittest.Diff(c.old, state) != "" && gittest.Diff(c.new, state) != "" {
			t.Fatalf("%s: neither the old state\n%s\nnor the new one\n%s", when, gittest.Diff(c.old, state), gittest.Diff(c.new, state))
		}
		c.restoreAll(c.before)
		gittest.AssertEqual(t, "after a retry", c.new, c.manifest())
		assertSaved(t, c.fixture, "a", "three, not tracked yet\n")
		assertSaved(t, c.fixture, "big", strings.Repeat("b", 3000))
		c.checkStore("retry, " + when)
	})
}

// TestR69_WriteErrors lets one system call fail with a full disk, a full share of it or
// an I/O error: either the command succeeds, or it says so and leaves the store sound.
// The track fails at every call with each error; the restore at every other call, at
// the odd ones with the first and the last error and at the even ones with the second.
func TestR69_WriteErrors(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"track", "restore"} {
		for i, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT} {
			first, step := gittest.First(), gittest.Stride()
			if command == "restore" {
				first, step = gittest.First()+i%2, 2*gittest.Stride()
			}
			t.Run(command+" "+errno.Error(), func(t *testing.T) {
				t.Parallel()
				c := newCrashRun(t)
				fail := func(n int, errno syscall.Errno) gittest.Crash {
					c.reset()
					return gittest.FailAt(t, []string{os.Args[0]}, c.env(command), gittest.WriteCalls, n, errno)
				}
				gittest.Failed(t, []syscall.Errno{errno}, first, step, fail, func(when string, crash gittest.Crash) {
					c.checkStore(when)
					if crash.ExitCode == 0 && command == "restore" {
						gittest.AssertEqual(t, "restore that claims success", c.new, c.manifest())
					}
					if errno != syscall.EIO && crash.ExitCode != 0 && !strings.Contains(crash.Stderr, errno.Error()) {
						t.Errorf("%s: the reason is not said: %s", when, crash)
					}
					c.restoreAll(c.before)
					gittest.AssertEqual(t, "after a retry", c.new, c.manifest())
					c.noLeftovers()
				})
			})
		}
	}
}

// noLeftovers: no temporary file is in the store.
func (c *crashRun) noLeftovers() {
	c.Helper()
	for path := range gittest.Manifest(c.T, c.data) {
		if name := filepath.Base(path); strings.HasPrefix(name, "tmp_") || strings.HasPrefix(name, atomicfile.Prefix) {
			c.Errorf("left behind: %s", path)
		}
	}
}

// checkStore: git finds nothing wrong, earlier trees read back, and leftovers are in the store
// only.
func (c *crashRun) checkStore(when string) {
	c.Helper()
	c.oracle.Fsck(cairn.StorePath(c.data, mustEval(c.T, c.root)))
	if text := readAt(c.T, c.fixture, c.before, "a"); text != "one\n" {
		c.Fatalf("%s: a at the first checkpoint is %q", when, text)
	}
}
