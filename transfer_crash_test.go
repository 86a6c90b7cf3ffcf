package cairn_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// fetchRun is a fetch in a process of its own, again and again from the same store.
type fetchRun struct {
	*crashRun
	remote string
	want   []string // refs after an undisturbed fetch
}

// newFetchRun prepares one. seal, nil for none, makes the lines of the other machine sealed.
func newFetchRun(t *testing.T, seal func(*cairn.Options)) *fetchRun {
	t.Helper()
	c := newCrashRun(t)
	if seal != nil {
		seal(&c.opt)
	}
	remote := bareRepository(t, c.oracle)
	g := c.fixture.other()
	g.write("a", "of another machine\n")
	g.track()
	g.write("b", "more\n")
	g.track()
	if err := g.repo().Pin(t.Context(), "@", "theirs"); err != nil {
		t.Fatal(err)
	}
	g.push(remote)
	g.repo().Close()
	c.reset()
	f := &fetchRun{crashRun: c, remote: remote}
	f.fetch(remote)
	f.want = f.fetched()
	if len(f.want) != 2 {
		t.Fatalf("fetched %q", f.want)
	}
	return f
}

func (f *fetchRun) env(command string) []string {
	return append(f.crashRun.env(command), "CAIRN_TEST_REMOTE="+f.remote, "CAIRN_TEST_IDENTITY="+f.opt.Identity)
}

// fetched lists the lines of other stores.
func (f *fetchRun) fetched() (refs []string) {
	for _, ref := range f.refs(f.oracle, f.repo().StoreDir()) {
		if strings.HasPrefix(ref, "refs/cairn/remotes/") {
			refs = append(refs, ref)
		}
	}
	return refs
}

// checkFetched: every line that is there is whole, the work tree is untouched, and a fetch brings the
// rest.
func (f *fetchRun) checkFetched(what string) {
	f.Helper()
	f.checkStore(what)
	gittest.AssertEqual(f.T, what+": the work tree", f.old, f.manifest())
	for _, ref := range f.fetched() {
		if !slices.Contains(f.want, ref) {
			f.Errorf("%s: there is %s", what, ref)
		}
	}
	f.oracle.In(f.repo().StoreDir(), "fsck", "--strict", "--full", "--connectivity-only")
	f.track() // the next command removes the leftovers
	noQuarantine(f.T, f.repo().StoreDir())
	f.fetch(f.remote)
	if got := f.fetched(); !slices.Equal(got, f.want) {
		f.Errorf("%s: after another fetch %q, want %q", what, got, f.want)
	}
}

// TestFetchKilled kills a fetch, with the processes of git, before its write-type system calls.
func TestFetchKilled(t *testing.T) {
	t.Parallel()
	newFetchRun(t, nil).killed(t)
}

// killed visits the calls.
func (f *fetchRun) killed(t *testing.T) {
	gittest.Killed(t, gittest.FamilyStride(), func(n int) gittest.Crash {
		f.reset()
		return gittest.KillFamilyAt(t, []string{os.Args[0]}, f.env("fetch"), gittest.WriteCalls, n)
	}, f.checkFetched)
}

// TestFetchWriteErrors lets one system call of a fetch fail: the fetch succeeds, or says so and leaves
// nothing half.
func TestFetchWriteErrors(t *testing.T) {
	t.Parallel()
	f := newFetchRun(t, nil)
	errnos := []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT}
	gittest.Failed(t, errnos, gittest.First(), gittest.FamilyStride(), func(n int, errno syscall.Errno) gittest.Crash {
		f.reset()
		return gittest.FailFamilyAt(t, []string{os.Args[0]}, f.env("fetch"), gittest.WriteCalls, n, errno)
	}, func(when string, crash gittest.Crash) {
		if crash.ExitCode == 0 {
			if got := f.fetched(); !slices.Equal(got, f.want) {
				t.Errorf("%s: a success, with %q", when, got)
			}
		}
		f.checkFetched(when)
	})
}

// fetchAsProcess is the fetch that is disturbed.
func fetchAsProcess(r *cairn.Repo) error {
	_, err := r.Fetch(background, filepath.Clean(os.Getenv("CAIRN_TEST_REMOTE")))
	return err
}
