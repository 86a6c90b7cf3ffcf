package cairn_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// thinToday lets every line keep the newest state of the day.
var thinToday = cairn.CleanOptions{Thorough: true, Retention: cairn.Retention{
	KeepLast: cairn.NoLimit, MaxBytes: cairn.NoLimit, MinFree: cairn.NoLimit, Keep: cairn.KeepRules{All: 1, Daily: 90 * 24 * time.Hour},
}}

// thinRun is a crashRun whose store has checkpoints to thin between two pinned ones.
type thinRun struct {
	*crashRun
	kept map[string]string // contents of the file a
	gone []string
}

func newThinRun(t *testing.T) *thinRun {
	t.Helper()
	c := &thinRun{crashRun: newCrashRun(t), kept: make(map[string]string)}
	c.restoreAll(c.before)
	for i := range 8 {
		text := fmt.Sprint("text ", i, "\n")
		c.write("a", text)
		r := c.repo()
		access.SetClock(r, gittest.OneDay)
		got := c.trackBy(r)
		if i%4 == 3 {
			if err := c.repo().Pin(background, got.Checkpoint, fmt.Sprint("pin", i)); err != nil {
				t.Fatal(err)
			}
			c.kept[got.Checkpoint] = text
		} else {
			c.gone = append(c.gone, got.Checkpoint)
		}
	}
	if err := c.repo().Pin(background, c.before, "before"); err != nil {
		t.Fatal(err)
	}
	gittest.CopyTree(t, c.root, filepath.Join(c.pristine, "root"))
	gittest.CopyTree(t, c.data, filepath.Join(c.pristine, "data"))
	return c
}

// check checks a store in which a cleaning may have gone any way.
func (c *thinRun) check(when string) {
	c.Helper()
	c.checkStore(when)
	r := c.repo()
	for id, text := range c.kept {
		if got := readAt(c.T, c.fixture, id, "a"); got != text {
			c.Errorf("%s: %s holds %q", when, id, got)
		}
	}
	for _, id := range c.gone {
		if _, err := r.Lookup(background, id); err != nil && !errors.Is(err, cairn.ErrThinned) {
			c.Errorf("%s: %v", when, err)
		}
	}
	faults, err := r.Check(background, cairn.CheckOptions{})
	if err != nil {
		c.Errorf("%s: %v", when, err)
	}
	for _, fault := range faults {
		// A killed cleaning leaves temporary files, and packs that are going and have no index any more.
		if fault.Kind != "temporary" && (fault.Kind != "pack index" || !strings.Contains(fault.Text, "does not exist")) {
			c.Errorf("%s: %+v", when, fault)
		}
	}
}

// again thins once more, after which all is as if nothing had happened.
func (c *thinRun) again(when string) {
	c.Helper()
	r := c.repo()
	done, err := r.Clean(background, thinToday)
	if err != nil || done.Incomplete || done.Blocked != nil {
		c.Fatalf("%s: %+v, %v", when, done, err)
	}
	for _, id := range c.gone {
		if _, err := r.Lookup(background, id); !errors.Is(err, cairn.ErrThinned) {
			c.Errorf("%s: %s: %v, want it thinned", when, id, err)
		}
	}
	c.check(when)
	c.noLeftovers()
}

// TestThinningKilled kills a cleaning that thins before its write-type system calls.
func TestThinningKilled(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	c := newThinRun(t)
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		return gittest.KillAt(t, []string{os.Args[0]}, c.env("thin"), gittest.WriteCalls, n)
	}, func(when string) {
		c.check(when)
		c.again("again, " + when)
	})
}

// TestThinningWriteErrors lets one write fail.
func TestThinningWriteErrors(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	c := newThinRun(t)
	fail := func(n int, errno syscall.Errno) gittest.Crash {
		c.reset()
		return gittest.FailAt(t, []string{os.Args[0]}, c.env("thin"), gittest.WriteCalls, n, errno)
	}
	gittest.Failed(t, []syscall.Errno{syscall.ENOSPC, syscall.EIO}, gittest.First(), gittest.Stride(), fail, func(when string, _ gittest.Crash) {
		c.check(when)
		c.again("again, " + when)
	})
}

// TestThinnedPurgeKilled kills a purge of a store with thinned checkpoints. The same purge completes it.
func TestThinnedPurgeKilled(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	c := newThinRun(t)
	c.again("before the purge")
	gittest.CopyTree(t, c.data, filepath.Join(c.pristine, "data"))
	names := []string{"before", "pin3", "pin7"}
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		return gittest.KillAt(t, []string{os.Args[0]}, c.env("purge"), gittest.WriteCalls, n)
	}, func(when string) {
		c.oracle.Fsck(cairn.StorePath(c.data, mustEval(t, c.root)))
		r := c.repo()
		if _, err := r.Purge(background, []string{filepath.Join(c.root, "perm")}); err != nil && !errors.Is(err, cairn.ErrNotFound) {
			t.Errorf("%s: %v", when, err)
		}
		log := 0
		for _, err := range r.Log(background, cairn.LogOptions{}) {
			if log++; err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
		if log < len(names) {
			t.Errorf("%s: the log has %d checkpoints", when, log)
		}
		for i, want := range []string{"one\n", "text 3\n", "text 7\n"} {
			if got := readAt(t, c.fixture, names[i], "a"); got != want {
				t.Errorf("%s: %s holds %q", when, names[i], got)
			}
		}
		for _, id := range c.gone {
			if _, err := r.Lookup(background, id); !errors.Is(err, cairn.ErrThinned) {
				t.Errorf("%s: %s: %v, want it thinned", when, id, err)
			}
		}
		c.oracle.Fsck(cairn.StorePath(c.data, mustEval(t, c.root)))
	})
}
