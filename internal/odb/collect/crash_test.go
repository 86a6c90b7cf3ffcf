package collect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/keep"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// childCollect cleans up, durably.
func childCollect(db *odb.DB) error {
	out, err := Run(context.Background(), db, Options{Thorough: true})
	if err == nil && out.Blocked != nil {
		err = out.Blocked
	}
	return err
}

// childRepack cleans up with deltas.
func childRepack(db *odb.DB) error {
	out, err := Run(context.Background(), db, Options{Thorough: true, Pack: gitPacker(db)})
	return errors.Join(err, out.Blocked, out.Unpacked)
}

// collectRun is a store that a process cleans up while it is killed or its calls fail, again and
// again from the same state.
type collectRun struct {
	*odbtest.Lines
	pristine string
}

// newCollectRun makes a store with work of every kind for a collection: packs that go, that are
// rewritten and that are merged, one of git's with deltas, live and dead loose objects beside a
// vault, leftovers.
func newCollectRun(t *testing.T) *collectRun {
	t.Helper()
	c := &collectRun{Lines: odbtest.NewLines(t), pristine: filepath.Join(t.TempDir(), "pristine")}
	text := string(gittest.Prose(1, 4000))
	for i := range 4 {
		c.Track(fmt.Sprint("refs/cairn/tracks/", i), map[string]string{"f": text[i*50:], "g": fmt.Sprint(i)})
	}
	gittest.Bare(t, c.Dir(), "", "repack", "-adf")
	c.Forget("refs/cairn/tracks/1")
	c.Fill("refs/cairn/tracks/a", 4)
	c.Fill("refs/cairn/tracks/b", 2)
	c.Forget("refs/cairn/tracks/b")
	files := map[string]string{"one": "half of it", "two": "is garbage"}
	c.Track("refs/cairn/tracks/c", files)
	c.Forget("refs/cairn/tracks/c")
	c.Track("refs/cairn/tracks/c", map[string]string{"one": "half of it"})
	for _, text := range looseTexts {
		gittest.Bare(t, c.Dir(), text, "hash-object", "-w", "--stdin")
	}
	_, err := vaultOf(c.DB).Keep(t.Context(), nil, keep.Options{Beside: c.Path("objects")})
	must(t, err)
	loose := object.Sum(object.Blob, []byte("loose kept"))
	must(t, c.SetRef("refs/cairn/loose", loose))
	c.Objs[loose] = []byte("loose kept")
	c.Of["refs/cairn/loose"] = map[object.ID]bool{loose: true}
	must(t, os.WriteFile(c.Path("objects/pack/"+pack.TempPrefix+"0123"), []byte("left over"), 0o600))
	must(t, c.Close())
	must(t, os.CopyFS(c.pristine, os.DirFS(c.Dir())))
	return c
}

// looseTexts are the loose objects of a collectRun: a live one and a dead one.
var looseTexts = []string{"loose kept", "loose garbage"}

func vaultOf(db *odb.DB) *keep.Vault { return keep.At(db.PrivatePath(odb.KeptDir), false) }

// wantInherited checks that the vault has the loose objects, which the store has dropped.
func (c *collectRun) wantInherited(db *odb.DB, what string) {
	c.T.Helper()
	for _, text := range looseTexts {
		id := object.Sum(object.Blob, []byte(text)).String()
		if _, err := os.Lstat(filepath.Join(vaultOf(db).Dir(), "objects", id[:2], id[2:])); err != nil {
			c.T.Errorf("%s: %v", what, err)
		}
	}
}

func (c *collectRun) reset() {
	c.T.Helper()
	must(c.T, os.RemoveAll(c.Dir()))
	must(c.T, os.CopyFS(c.Dir(), os.DirFS(c.pristine)))
}

// inspect checks the store that a process has left: no live object is missing, and another
// collection finishes the work and leaves no garbage.
func (c *collectRun) inspect(what string) {
	c.T.Helper()
	db, err := odb.Open(c.Dir(), odbtest.Root, odb.Options{NoSync: true})
	must(c.T, err)
	defer db.Close()
	after := &odbtest.Lines{DB: db, T: c.T, Objs: c.Objs, Of: maps.Clone(c.Of)}
	after.Check(false)
	collect(c.T, db, Options{Thorough: true})
	after.Check(true)
	odbtest.WantClean(c.T, db, what)
	if loose, err := db.LooseObjects(); err != nil || len(loose) > 0 {
		c.T.Errorf("%s: loose objects %v, %v", what, loose, err)
	}
	if vaultOf(db).Exists() {
		c.wantInherited(db, what)
	}
	if n := len(db.PackNames()); n > 3 {
		c.T.Errorf("%s: %d packs", what, n)
	}
	if c.T.Failed() {
		c.T.Fatal(what)
	}
}

// TestR59_KilledInACollect kills the cleaning before each of its write-type system
// calls.
func TestR59_KilledInACollect(t *testing.T) {
	t.Parallel()
	c := newCollectRun(t)
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		child := childCommand("collect", c.Dir())
		return gittest.KillAt(t, []string{child.Path}, child.Env, gittest.WriteCalls, n)
	}, c.inspect)
}

// TestR59_KilledInARepack kills it where git makes the pack.
func TestR59_KilledInARepack(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	c := &collectRun{Lines: odbtest.NewLines(t), pristine: filepath.Join(t.TempDir(), "pristine")}
	files := make(map[string]string)
	for i := range packAt/2 + 1 {
		files[fmt.Sprint(i)] = fmt.Sprint("file ", i)
	}
	c.Track("refs/cairn/tracks/a", files)
	c.Fill("refs/cairn/tracks/b", 2)
	c.Forget("refs/cairn/tracks/b")
	must(t, c.Close())
	must(t, os.CopyFS(c.pristine, os.DirFS(c.Dir())))
	gittest.Killed(t, 3*gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		child := childCommand("repack", c.Dir())
		return gittest.KillAt(t, []string{child.Path}, child.Env, gittest.WriteCalls, n)
	}, c.inspect)
	if names := must1(pack.List(c.Path("objects/pack"))); len(names) != 1 {
		t.Fatalf("undisturbed: packs %q", names)
	}
}

// TestR69_CollectWriteErrors lets one write-type system call fail, or all from one on, as on a
// full disk: the collection fails with an error or succeeds.
func TestR69_CollectWriteErrors(t *testing.T) {
	t.Parallel()
	type failure struct {
		errno syscall.Errno
		from  bool
	}
	for i, f := range []failure{{syscall.ENOSPC, false}, {syscall.EIO, false}, {syscall.EDQUOT, true}} {
		t.Run(fmt.Sprint(f.errno, f.from), func(t *testing.T) {
			t.Parallel()
			c := newCollectRun(t)
			fail := gittest.FailAt
			if f.from {
				fail = gittest.FailFrom
			}
			gittest.Failed(t, []syscall.Errno{f.errno}, gittest.First()+i, 3*gittest.Stride(), func(n int, errno syscall.Errno) gittest.Crash {
				c.reset()
				child := childCommand("collect", c.Dir())
				return fail(t, []string{child.Path}, child.Env, gittest.WriteCalls, n, errno)
			}, func(when string, crash gittest.Crash) { c.inspect(fmt.Sprintf("%s: %s", when, crash)) })
		})
	}
}
