package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
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
	return func(opt *cairn.Options) { opt.Encrypt, opt.Identity = []string{id.Recipient().String()}, file }
}

// TestSealedKinds: everything that travels comes out as it went in, from parts of several pieces.
func TestSealedKinds(t *testing.T) {
	t.Parallel()
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

// TestSealedFetchKilled kills a fetch of sealed lines, with the processes of git, before its write-type system
// calls.
func TestSealedFetchKilled(t *testing.T) {
	t.Parallel()
	newFetchRun(t, sealing(t)).killed(t)
}

// TestSealedPushKilled kills a sealed push and the remote's processes. The remote has the former state or the new
// one, and the next push brings the rest.
func TestSealedPushKilled(t *testing.T) {
	t.Parallel()
	c := newCrashRun(t)
	sealing(t)(&c.opt)
	remote := bareRepository(t, c.oracle)
	c.push(remote)
	c.track()
	for _, dir := range []string{"root", "data"} {
		copyTree(t, map[string]string{"root": c.root, "data": c.data}[dir], filepath.Join(c.pristine, dir))
	}
	copyTree(t, remote, filepath.Join(c.pristine, "remote"))
	want := strings.Join(c.refs(c.oracle, c.repo().StoreDir()), "\n")
	n := 1
	for ; ; n += gittest.FamilyStride() {
		c.reset()
		copyTree(t, filepath.Join(c.pristine, "remote"), remote)
		crash := gittest.KillFamilyAt(t, []string{os.Args[0]}, append(c.env("push"), "CAIRN_TEST_REMOTE="+remote), gittest.WriteCalls, n)
		if !crash.Hit {
			if crash.ExitCode != 0 {
				t.Fatalf("undisturbed push: %s", crash)
			}
			break
		}
		what := fmt.Sprintf("killed at call %d, %s", n, crash.Call)
		c.checkStore(what)
		c.oracle.In(remote, "fsck", "--strict")
		dropLocks(t, remote)
		c.push(remote)
		if got := strings.Join(c.refs(c.oracle, c.repo().StoreDir()), "\n"); got != want {
			t.Errorf("%s: the store has\n%s\nwant\n%s", what, got, want)
		}
		c.wantThere(what, remote)
		if t.Failed() {
			t.Fatalf("killed at call %d: %s", n, crash)
		}
	}
	t.Logf("%d write-type system calls", n-1)
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
