package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// resumeRun is a resume of a fetched session in a process of its own, again and again.
type resumeRun struct {
	*fixture
	oracle    *gittest.Oracle
	pristine  string
	env       []string
	old, done gittest.Listing
}

func newResumeRun(t *testing.T) *resumeRun {
	t.Helper()
	remote := remoteOf(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "gone": gittest.File("x")})
	f.turn("s", "m1", "Fix the login", "a", "2\n")
	if err := os.Remove(f.path("gone")); err != nil {
		t.Fatal(err)
	}
	f.turn("s", "m2", "And the logout", "dir/b", "3\n")
	g := f.machine(gittest.Tree{"a": gittest.File("mine\n"), "own": gittest.File("x\n")})
	f.sent(remote)
	g.got(remote)
	g.repo.Close()
	r := &resumeRun{fixture: g, oracle: gittest.NewOracle(t), pristine: t.TempDir(), old: gittest.Manifest(t, g.root)}
	gittest.CopyTree(t, g.root, filepath.Join(r.pristine, "root"))
	gittest.CopyTree(t, g.data, filepath.Join(r.pristine, "data"))
	r.env = append(os.Environ(), "CAIRN_TEST_COMMAND=resume", "CAIRN_TEST_ROOT="+g.root, "CAIRN_TEST_DATA="+g.data, "GOMAXPROCS=2")
	r.resumed("undisturbed")
	r.done = gittest.Manifest(t, g.root)
	return r
}

func (r *resumeRun) reset() {
	r.Helper()
	gittest.CopyTree(r.T, filepath.Join(r.pristine, "root"), r.root)
	gittest.CopyTree(r.T, filepath.Join(r.pristine, "data"), r.data)
}

// resumed lets the command run to its end: the session is one of this store then.
func (r *resumeRun) resumed(what string) {
	r.Helper()
	if crash := gittest.Undisturbed(r.T, []string{os.Args[0]}, r.env); crash.ExitCode != 0 {
		r.Fatalf("%s: %s", what, crash)
	}
	r.reopen()
	defer r.repo.Close()
	if s := r.get("s"); s.Fetched != nil || s.Messages != 2 {
		r.Errorf("%s: session %+v", what, s)
	}
	history, err := r.History(background, "s")
	if err != nil {
		r.Fatal(err)
	}
	if files := history[0].Steps[0].Patch.Files; len(files) != 1 || files[0] != filepath.ToSlash(r.repo.Root())+"/a" {
		r.Errorf("%s: the first step changed %q", what, files)
	}
	r.oracle.Fsck(r.repo.StoreDir())
}

// check looks at what a disturbed command has left: the directory is in the old state or in the new one,
// and the session became one of this store only with the new one. A command that says that it is
// incomplete leaves each path old or new. The command again brings the new state about.
func (r *resumeRun) check(what string, incomplete bool) {
	r.Helper()
	r.reopen()
	r.oracle.Fsck(r.repo.StoreDir())
	if _, err := r.repo.Track(background, cairn.TrackOptions{}); err != nil { // the next command, whatever it is
		r.Fatal(err)
	}
	now := gittest.Manifest(r.T, r.root)
	own := r.get("s").Fetched == nil
	if incomplete && own {
		r.eachOldOrNew(what, now)
	} else if gittest.Diff(r.done, now) != "" && (own || gittest.Diff(r.old, now) != "") {
		r.Errorf("%s: the session is own: %v, the directory is neither old nor new:\n%s", what, own, gittest.Diff(r.done, now))
	}
	r.repo.Close()
	r.resumed("again, " + what)
	gittest.AssertEqual(r.T, "again, "+what, r.done, gittest.Manifest(r.T, r.root))
	if r.Failed() {
		r.FailNow()
	}
}

func (r *resumeRun) eachOldOrNew(what string, now gittest.Listing) {
	r.Helper()
	for _, list := range []gittest.Listing{r.old, r.done, now} {
		for path := range list {
			if now[path] != r.old[path] && now[path] != r.done[path] {
				r.Errorf("%s: %s is neither old nor new: %v", what, path, now[path])
			}
		}
	}
}

// TestResumeKilled kills a resume before its write-type system calls.
func TestResumeKilled(t *testing.T) {
	t.Parallel()
	r := newResumeRun(t)
	gittest.Killed(t, 2*gittest.Stride(), func(n int) gittest.Crash {
		r.reset()
		return gittest.KillAt(t, []string{os.Args[0]}, r.env, gittest.WriteCalls, n)
	}, func(when string) { r.check(when, false) })
}

// TestResumeWriteErrors lets one system call of a resume fail.
func TestResumeWriteErrors(t *testing.T) {
	t.Parallel()
	r := newResumeRun(t)
	errnos := []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT}
	gittest.Failed(t, errnos, gittest.First(), 2*gittest.Stride(), func(n int, errno syscall.Errno) gittest.Crash {
		r.reset()
		return gittest.FailAt(t, []string{os.Args[0]}, r.env, gittest.WriteCalls, n, errno)
	}, func(when string, crash gittest.Crash) { r.check(when, strings.Contains(crash.Stderr, "incomplete")) })
}
