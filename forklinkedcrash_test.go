package cairn_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// newLinkedRun is a fork as a linked work tree in a process of its own, run over and over.
func newLinkedRun(t *testing.T) (c *crashRun, dir string) {
	t.Helper()
	c = &crashRun{fixture: newFixture(t, crashTree), oracle: gittest.NewOracle(t), pristine: t.TempDir()}
	c.oracle.Init(c.root)
	c.oracle.Commit(c.root, "first")
	c.before = c.trackAll()
	c.write("a", "two\n")
	c.oracle.In(c.root, "add", "a")
	c.write("a", "three, not tracked yet\n")
	c.new = c.besidesGit()
	for _, pair := range [][2]string{{c.root, "root"}, {c.data, "data"}} {
		gittest.CopyTree(t, pair[0], filepath.Join(c.pristine, pair[1]))
	}
	return c, copyPlace(t)
}

// wholeLinked fails unless a linked work tree is whole, or absent with all that git has of it.
func (c *crashRun) wholeLinked(dir, when string) (there bool) {
	c.Helper()
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	k := c.in(dir)
	defer k.closeAll()
	gittest.AssertEqual(c.T, "the fork, "+when, c.new, k.besidesGit())
	for _, args := range []string{"status --porcelain=v2", "worktree list", "ls-files --stage"} {
		if here, there := c.oracle.In(c.root, strings.Fields(args)...), c.oracle.In(dir, strings.Fields(args)...); here != there {
			c.Errorf("%s: git %s: %s, in the fork %s", when, args, here, there)
		}
	}
	if head := c.oracle.In(dir, "symbolic-ref", "HEAD"); head != "refs/heads/cairn/copy\n" {
		c.Errorf("%s: HEAD of the fork is %s", when, head)
	}
	return true
}

// removeLocks removes the locks of a git that was killed, as git tells its user to do.
func (c *crashRun) removeLocks() {
	c.Helper()
	err := filepath.WalkDir(c.path(".git"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".lock") || strings.HasSuffix(path, "packed-refs.new")) {
			err = os.Remove(path)
		}
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
}

// linkedAgain forks once more where the fork is not there. Its leftovers are no hindrance. success says that
// the fork has claimed it.
func (c *crashRun) linkedAgain(dir, when string, success bool) {
	c.Helper()
	if !c.wholeLinked(dir, when) {
		if success {
			c.Errorf("%s: success without a fork", when)
		}
		again := func() error {
			_, err := c.repo().Fork(c.Context(), dir, cairn.ForkOptions{GitWorktree: true, Env: c.oracle.Env()})
			return err
		}
		err := again()
		if err != nil && strings.Contains(err.Error(), ".lock") {
			c.removeLocks()
			err = again()
		}
		if err != nil {
			c.Fatalf("%s: the next fork: %v", when, err)
		}
		c.wholeLinked(dir, when+", the next fork")
		assertAlone(c.T, dir)
	}
	if list := c.oracle.In(c.root, "worktree", "list"); strings.Count(list, "\n") != 2 {
		c.Errorf("%s: %s", when, list)
	}
	if heads, err := filepath.Glob(c.path(".git/worktrees/*/HEAD")); err != nil || len(heads) != 1 { // a killed git may leave an entry without
		c.Errorf("%s: the repository has work trees with %q, %v", when, heads, err)
	}
	c.oracle.Fsck(c.root)
	c.closeAll()
}

// TestForkLinkedKilled kills a fork, and with it git, before their write-type system calls.
func TestForkLinkedKilled(t *testing.T) {
	t.Parallel()
	c, dir := newLinkedRun(t)
	env := append(c.forkEnv(dir), "CAIRN_TEST_GIT=1")
	gittest.Killed(t, gittest.FamilyStride(), func(n int) gittest.Crash {
		c.reset()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		return gittest.KillFamilyAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n)
	}, func(when string) { c.linkedAgain(dir, when, false) })
	c.linkedAgain(dir, "undisturbed", true)
}

// TestForkLinkedWriteErrors lets one system call of the fork or of git fail.
func TestForkLinkedWriteErrors(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			c, dir := newLinkedRun(t)
			env := append(c.forkEnv(dir), "CAIRN_TEST_GIT=1")
			gittest.Failed(t, []syscall.Errno{errno}, gittest.First(), gittest.FamilyStride(), func(n int, errno syscall.Errno) gittest.Crash {
				c.reset()
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				return gittest.FailFamilyAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n, errno)
			}, func(when string, crash gittest.Crash) { c.linkedAgain(dir, when, crash.ExitCode == 0) })
		})
	}
}

// TestRemoveLinkedKilled kills a removal, and with it git: a second one ends it.
func TestRemoveLinkedKilled(t *testing.T) {
	t.Parallel()
	c, dir := newLinkedRun(t)
	if _, err := c.repo().Fork(t.Context(), dir, cairn.ForkOptions{GitWorktree: true, Env: c.oracle.Env()}); err != nil {
		t.Fatal(err)
	}
	c.closeAll()
	for _, pair := range [][2]string{{c.root, "root"}, {c.data, "data"}, {dir, "fork"}} {
		gittest.CopyTree(t, pair[0], filepath.Join(c.pristine, pair[1]))
	}
	env := append(c.env("remove-fork"), "CAIRN_TEST_DIR="+dir)
	check := func(when string) {
		res, err := c.repo().RemoveFork(t.Context(), dir, cairn.RemoveForkOptions{Force: true, Env: c.oracle.Env()})
		if err != nil && !errors.Is(err, cairn.ErrNotFound) {
			t.Fatalf("%s: a second removal: %v", when, err)
		}
		if err == nil && strings.Contains(res.BranchKept, "/.git/") { // git names a lock of the git that was killed
			c.removeLocks()
			c.oracle.In(c.root, "branch", "-q", "-D", "cairn/copy")
		}
		if refs := c.oracle.In(c.root, "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main\n" {
			t.Errorf("%s: %s", when, refs)
		}
		if list := c.oracle.In(c.root, "worktree", "list"); strings.Count(list, "\n") != 1 {
			t.Errorf("%s: %s", when, list)
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the directory is there: %v", when, err)
		}
		c.closeAll()
	}
	gittest.Killed(t, gittest.FamilyStride(), func(n int) gittest.Crash {
		c.reset()
		gittest.CopyTree(t, filepath.Join(c.pristine, "fork"), dir)
		return gittest.KillFamilyAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n)
	}, check)
	check("undisturbed")
}
