package cairn_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// mergeRun is a merge of another directory in a process of its own, run over and over from the same
// starting point.
type mergeRun struct {
	*fixture
	other    *fixture
	oracle   *gittest.Oracle
	pristine string
	before   string // a checkpoint
	old, new gittest.Listing
	there    gittest.Listing
}

func newMergeRun(t *testing.T) *mergeRun {
	t.Helper()
	c := &mergeRun{fixture: newFixture(t, mergeTree), oracle: gittest.NewOracle(t), pristine: t.TempDir()}
	c.before = c.trackAll()
	c.other = c.unrelated(t)
	c.other.track()
	editHere(c.fixture)
	editThere(c.other)
	c.old, c.there = c.manifest(), c.other.manifest()
	c.copyAll(gittest.CopyTree)
	c.merge(c.other, cairn.MergeOptions{})
	c.new = c.manifest()
	c.closeAll()
	c.other.closeAll()
	return c
}

// copyAll copies all four directories to their pristine copies.
func (c *mergeRun) copyAll(copying func(t testing.TB, from, to string)) {
	for name, dir := range map[string]string{"root": c.root, "data": c.data, "other": c.other.root, "otherdata": c.other.data} {
		copying(c.T, dir, filepath.Join(c.pristine, name))
	}
}

func (c *mergeRun) reset() {
	c.copyAll(func(t testing.TB, live, copied string) { gittest.CopyTree(t, copied, live) })
}

func (c *mergeRun) env() []string {
	return append(os.Environ(), "CAIRN_TEST_COMMAND=merge", "CAIRN_TEST_ROOT="+c.root, "CAIRN_TEST_DATA="+c.data,
		"CAIRN_TEST_OTHER="+c.other.root, "CAIRN_TEST_OTHER_DATA="+c.other.data, "GOMAXPROCS=2")
}

// mergeAsProcess is the merge that gets killed.
func mergeAsProcess(r *cairn.Repo) error {
	other, err := cairn.Open(cairn.Options{Root: os.Getenv("CAIRN_TEST_OTHER"), DataDir: os.Getenv("CAIRN_TEST_OTHER_DATA")})
	if err != nil {
		return err
	}
	defer other.Close()
	_, err = r.Merge(background, cairn.MergeSource{Repo: other}, cairn.MergeOptions{})
	return err
}

// check: both stores are sound, the other directory is as it was, and a further merge ends as one
// that nothing disturbed. whole demands that the next command finishes the merge or leaves nothing of
// it. After a failed write a path may be a conflict of the merge.
func (c *mergeRun) check(when string, whole bool) {
	c.Helper()
	for _, f := range []*fixture{c.fixture, c.other} {
		c.oracle.Fsck(cairn.StorePath(f.data, mustEval(c.T, f.root)))
	}
	c.track() // the next command, whatever it is
	if state := c.manifest(); whole && gittest.Diff(c.old, state) != "" && gittest.Diff(c.new, state) != "" {
		c.Fatalf("%s: neither the old state\n%s\nnor the new one\n%s", when, gittest.Diff(c.old, state), gittest.Diff(c.new, state))
	}
	c.merge(c.other, cairn.MergeOptions{})
	gittest.AssertEqual(c.T, when+": after a retry", c.new, c.manifest())
	gittest.AssertEqual(c.T, when+": the other directory", c.there, c.other.manifest())
	for _, data := range []string{c.data, c.other.data} {
		(&crashRun{fixture: &fixture{T: c.T, data: data}}).noLeftovers()
	}
	c.restoreAll(c.before)
	gittest.AssertEqual(c.T, when+": at the checkpoint in common", mergeTree.Listing(), c.manifest())
	c.closeAll()
	c.other.closeAll()
	if c.Failed() {
		c.Fatal(when)
	}
}

// TestKilledInAMerge kills a merge before its write-type system calls: those of the capture there,
// those that bring objects, and those of the operation.
func TestKilledInAMerge(t *testing.T) {
	t.Parallel()
	c := newMergeRun(t)
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		return gittest.KillAt(t, []string{os.Args[0]}, c.env(), gittest.WriteCalls, n)
	}, func(when string) { c.check(when, true) })
}

// TestWriteErrorsOfAMerge lets one system call fail: the merge succeeds, or says why not.
func TestWriteErrorsOfAMerge(t *testing.T) {
	t.Parallel()
	for i, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			c := newMergeRun(t)
			fail := func(n int, errno syscall.Errno) gittest.Crash {
				c.reset()
				return gittest.FailAt(t, []string{os.Args[0]}, c.env(), gittest.WriteCalls, n, errno)
			}
			gittest.Failed(t, []syscall.Errno{errno}, gittest.First()+i, 2*gittest.Stride(), fail, func(when string, crash gittest.Crash) {
				if errno == syscall.ENOSPC && crash.ExitCode != 0 && !strings.Contains(crash.Stderr, errno.Error()) {
					t.Errorf("%s: the reason is not said: %s", when, crash)
				}
				c.check(when, false)
			})
		})
	}
}
