package cairn_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"filippo.io/age"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
)

// sealing returns what makes options seal for a new key, and read with it.
func sealing(t testing.TB) func(*cairn.Options) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(file, []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(opt *cairn.Options) {
		opt.Encrypt, opt.Identity, opt.Sealer = []string{id.Recipient().String()}, file, sealed.Age{}
	}
}

// TestSealedKinds: everything that travels comes out as it went in, from parts of several pieces.
func TestSealedKinds(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o := gittest.NewOracle(t)
	remote := bareRepository(t, o)
	f := newFixture(t, manyKinds())
	sealing(t)(&f.opt)
	first := f.track()
	f.push(remote)
	f.write("a", "2\n")
	second := f.track()
	f.push(remote)
	want := f.manifest()
	g := f.other()
	g.fetch(remote)
	if _, err := g.repo().Restore(t.Context(), first.Checkpoint, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.repo().Restore(t.Context(), second.Checkpoint, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	gittest.AssertEqual(t, "restored from sealed parts", want, g.manifest())
	o.In(g.repo().StoreDir(), "fsck", "--strict", "--full")
}

// TestSealedFork: a fork of a store that pushes sealed does so, too, and both have lines of their own on the remote.
func TestSealedFork(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	remote := bareRepository(t, o)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	sealing(t)(&f.opt)
	f.track()
	f.push(remote)
	encrypt := f.opt.Encrypt
	f.opt.Encrypt = nil
	k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
	k.opt.Encrypt = nil
	k.write("a", "of the fork\n")
	k.track()
	k.push(remote)
	f.write("a", "2\n")
	f.track()
	f.push(remote)
	if open := o.In(remote, "for-each-ref", "refs/cairn/about"); open != "" {
		t.Errorf("open lines:\n%s", open)
	}
	if n := strings.Count(o.In(remote, "for-each-ref", "refs/cairn/sealed"), "\n"); n != 2 {
		t.Errorf("%d notes", n)
	}
	if status, err := k.repo().RemoteStatus(t.Context()); err != nil || status.Sealed != len(encrypt) {
		t.Errorf("status %+v, %v", status, err)
	}
}

// TestSealedThenPurged: a purge leaves the times of checkpoints. A fetch takes the purged line for the newer one,
// whichever of the two was pushed openly.
func TestSealedThenPurged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sealedFirst, goneBefore bool }{{true, false}, {true, true}, {false, false}} {
		o := gittest.NewOracle(t)
		remote := bareRepository(t, o)
		f := newFixture(t, gittest.Tree{"key": gittest.File("secret\n"), "a": gittest.File("1\n")})
		sealing(t)(&f.opt)
		encrypt := [][]string{f.opt.Encrypt, {cairn.EncryptNone}}
		if !c.sealedFirst {
			encrypt[0], encrypt[1] = encrypt[1], encrypt[0]
		}
		f.track()
		if c.goneBefore {
			f.remove("key")
			f.track()
		}
		f.opt.Encrypt = encrypt[0]
		f.push(remote)
		f.purge("key")
		f.opt.Encrypt = encrypt[1]
		f.push(remote)
		g := f.other()
		g.fetch(remote)
		want := f.log()[0].ID
		if got := o.In(g.repo().StoreDir(), "for-each-ref", "--format=%(objectname)", "refs/cairn/remotes"); strings.TrimSpace(got) != want {
			t.Errorf("%+v: the fetched line is at %s, want %s", c, got, want)
		}
	}
}

// TestSealedFetchKilled kills a fetch of sealed lines, with the processes of git, before its write-type system
// calls.
func TestSealedFetchKilled(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	newFetchRun(t, sealing(t)).killed(t)
}

// sealedPush is a sealed push in a process of its own, again and again from the same store to the same remote.
type sealedPush struct {
	*crashRun
	remote string
	want   string // the refs of the store
}

func newSealedPush(t *testing.T) *sealedPush {
	t.Helper()
	c := newCrashRun(t)
	sealing(t)(&c.opt)
	p := &sealedPush{crashRun: c, remote: bareRepository(t, c.oracle)}
	c.push(p.remote)
	c.track()
	gittest.CopyTree(t, c.root, filepath.Join(c.pristine, "root"))
	gittest.CopyTree(t, c.data, filepath.Join(c.pristine, "data"))
	gittest.CopyTree(t, p.remote, filepath.Join(c.pristine, "remote"))
	p.want = strings.Join(c.refs(c.oracle, c.repo().StoreDir()), "\n")
	return p
}

func (p *sealedPush) env(command string) []string {
	return append(p.crashRun.env(command), "CAIRN_TEST_REMOTE="+p.remote)
}

// again brings the store and the remote back to the state before the push.
func (p *sealedPush) again() {
	p.reset()
	gittest.CopyTree(p.T, filepath.Join(p.pristine, "remote"), p.remote)
}

// checkPushed: store and remote are whole, and the next push brings the rest.
func (p *sealedPush) checkPushed(what string) {
	p.Helper()
	p.checkStore(what)
	p.oracle.In(p.remote, "fsck", "--strict")
	dropLocks(p.T, p.remote)
	p.push(p.remote)
	if got := strings.Join(p.refs(p.oracle, p.repo().StoreDir()), "\n"); got != p.want {
		p.Errorf("%s: the store has\n%s\nwant\n%s", what, got, p.want)
	}
	p.wantThere(what, p.remote)
}

// TestSealedPushKilled kills a sealed push and the remote's processes. The remote has the former state or the new
// one, and the next push brings the rest.
func TestSealedPushKilled(t *testing.T) {
	t.Parallel()
	c := newSealedPush(t)
	gittest.Killed(t, gittest.FamilyStride(), func(n int) gittest.Crash {
		c.again()
		return gittest.KillFamilyAt(t, []string{os.Args[0]}, c.env("push"), gittest.WriteCalls, n)
	}, c.checkPushed)
}

// TestSealedPushWriteErrors lets one system call of a sealed push fail: the push succeeds, or says so, and the next one
// brings the rest.
func TestSealedPushWriteErrors(t *testing.T) {
	t.Parallel()
	c := newSealedPush(t)
	errnos := []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT}
	gittest.Failed(t, errnos, gittest.First(), gittest.FamilyStride(), func(n int, errno syscall.Errno) gittest.Crash {
		c.again()
		return gittest.FailFamilyAt(t, []string{os.Args[0]}, c.env("push"), gittest.WriteCalls, n, errno)
	}, func(when string, _ gittest.Crash) { c.checkPushed(when) })
}

// dropLocks removes the locks of a git server that was killed, as its owner would.
func dropLocks(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") {
			err = os.Remove(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantThere fails unless another machine gets all lines of the store from the remote, which has no part too many:
// two, or one where git's server had moved the note and not added the part.
func (c *crashRun) wantThere(what, remote string) {
	c.Helper()
	g := c.other()
	g.fetch(remote)
	defer g.repo().Close()
	there := strings.Join(g.refs(c.oracle, g.repo().StoreDir()), "\n")
	for _, ref := range c.refs(c.oracle, c.repo().StoreDir()) {
		name, id, _ := strings.Cut(strings.TrimPrefix(ref, "refs/cairn/"), " ")
		if strings.HasPrefix(name, "tracks/") && !strings.Contains(there, name+" "+id) {
			c.Errorf("%s: another machine lacks %s", what, ref)
		}
	}
	if parts := strings.Count(c.oracle.In(remote, "for-each-ref", "refs/cairn/parts/"), "\n"); parts != 2 && parts != 1 {
		c.Errorf("%s: %d parts on the remote", what, parts)
	}
}
