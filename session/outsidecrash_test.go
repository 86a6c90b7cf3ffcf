package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// outsideAsProcess takes a turn back with what it changed outside the root.
func outsideAsProcess(s *session.Sessions) error {
	_, res, err := s.Revert(background, "s", session.Target{Message: "m1"}, session.MoveOptions{Outside: true})
	if err == nil && !res.Complete() {
		err = fmt.Errorf("incomplete: %+v, outside %+v", res, res.Outside)
	}
	return err
}

// outsideCrash is a turn that changed files in the root and beside it, ready to be taken back by a process.
type outsideCrash struct {
	*beside
	pristine  string
	env       []string
	old, done string // before the way back, and after it
}

func newOutsideCrash(t *testing.T) *outsideCrash {
	c := &outsideCrash{beside: newBeside(t), pristine: t.TempDir()}
	c.put("f", "old", 0o640)
	c.put("gone", "old", 0o600)
	c.put("bits", "same", 0o644)
	c.done = c.state()
	c.step("s", "m1", "1", func() {
		c.write("a", "2\n")
		c.put("f", "new", 0o640)
		c.put("made", "new", 0o600)
		c.put("bits", "same", 0o600)
		c.must(os.Remove(c.at("gone")))
	}, "a", c.at("f"), c.at("gone"), c.at("made"), c.at("bits"))
	c.old = c.state()
	c.repo.Close()
	for name, dir := range map[string]string{"root": c.root, "data": c.data, "beside": c.dir} {
		gittest.CopyTree(t, dir, filepath.Join(c.pristine, name))
	}
	c.env = append(os.Environ(), "CAIRN_TEST_COMMAND=outside", "CAIRN_TEST_ROOT="+c.root, "CAIRN_TEST_DATA="+c.data, "GOMAXPROCS=2")
	return c
}

func (c *outsideCrash) state() string { return c.read("a") + c.look() }

func (c *outsideCrash) reset() {
	c.Helper()
	for name, dir := range map[string]string{"root": c.root, "data": c.data, "beside": c.dir} {
		gittest.CopyTree(c.T, filepath.Join(c.pristine, name), dir)
	}
}

// check looks at what a process has left after the next command, and does the same again.
func (c *outsideCrash) check(what string) {
	c.Helper()
	c.reopen()
	if _, err := c.repo.Track(background, cairn.TrackOptions{}); err != nil {
		c.Fatalf("%s: %v", what, err)
	}
	want := c.old
	if c.get("s").Revert != nil {
		want = c.done
	}
	if got := c.state(); got != want {
		c.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
	if rest, _ := filepath.Glob(c.at(".cairn-*")); len(rest) > 0 {
		c.Errorf("%s: temporary files are left: %q", what, rest)
	}
	c.repo.Close()
	if crash := gittest.Undisturbed(c.T, []string{os.Args[0]}, c.env); crash.ExitCode != 0 {
		c.Fatalf("again after %s: %s\n%s", what, crash, crash.Stderr)
	}
	if got := c.state(); got != c.done {
		c.Errorf("again, after %s:\n%s\nwant:\n%s", what, got, c.done)
	}
	c.reopen()
	gittest.NewOracle(c.T).Fsck(c.repo.StoreDir())
	c.repo.Close()
	if c.Failed() {
		c.FailNow()
	}
}

// TestOutsideKilled kills the way back before each write-type call. The next command brings all to the end, or
// nothing was done.
func TestOutsideKilled(t *testing.T) {
	t.Parallel()
	c := newOutsideCrash(t)
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		return gittest.KillAt(t, []string{os.Args[0]}, c.env, gittest.WriteCalls, n)
	}, c.check)
}

// TestOutsideWriteErrors lets each write-type call fail once. The way back succeeds, or says why not and which
// paths stay; the same again brings it about.
func TestOutsideWriteErrors(t *testing.T) {
	t.Parallel()
	for i, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			c := newOutsideCrash(t)
			fail := func(n int, errno syscall.Errno) gittest.Crash {
				c.reset()
				return gittest.FailAt(t, []string{os.Args[0]}, c.env, gittest.WriteCalls, n, errno)
			}
			gittest.Failed(t, []syscall.Errno{errno}, gittest.First()+i, 2*gittest.Stride(), fail, func(when string, crash gittest.Crash) {
				if crash.ExitCode == 1 && strings.Contains(crash.Stderr, "incomplete") {
					c.again(when)
				} else {
					c.check(when)
				}
			})
		})
	}
}

// again does the same once more after paths have stayed in conflict.
func (c *outsideCrash) again(what string) {
	c.Helper()
	if crash := gittest.Undisturbed(c.T, []string{os.Args[0]}, c.env); crash.ExitCode != 0 {
		c.Fatalf("again after %s: %s\n%s", what, crash, crash.Stderr)
	}
	if got := c.state(); got != c.done {
		c.Fatalf("again, after %s:\n%s\nwant:\n%s", what, got, c.done)
	}
}
