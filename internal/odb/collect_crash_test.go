package odb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// childCollect cleans up, durably.
func childCollect(db *DB) error {
	out, err := db.Collect(context.Background(), Collection{Thorough: true})
	if err == nil && out.Blocked != nil {
		err = out.Blocked
	}
	return err
}

// childRepack lets git look for deltas.
func childRepack(db *DB) error {
	out, err := db.Collect(context.Background(), Collection{Thorough: true, Pack: gitPacker(db)})
	return errors.Join(err, out.Blocked, out.Unpacked)
}

// collectRun is a store to be cleaned up by a process that comes to grief, over and
// over from the same starting point.
type collectRun struct {
	*lines
	pristine string
}

// newCollectRun makes a store in which everything that Collect can do is to be done:
// packs to be removed, to be rewritten and to be merged, one of git's with deltas,
// loose objects to be taken in and to be dropped, leftovers.
func newCollectRun(t *testing.T) *collectRun {
	t.Helper()
	c := &collectRun{lines: newLines(t), pristine: filepath.Join(t.TempDir(), "pristine")}
	text := string(prose(1, 4000))
	for i := range 4 {
		c.track(fmt.Sprint("refs/cairn/tracks/", i), map[string]string{"f": text[i*50:], "g": fmt.Sprint(i)})
	}
	git(t, c.Dir(), "", "repack", "-adf")
	c.forget("refs/cairn/tracks/1")
	c.fill("refs/cairn/tracks/a", 4)
	c.fill("refs/cairn/tracks/b", 2)
	c.forget("refs/cairn/tracks/b")
	files := map[string]string{"one": "half of it", "two": "is garbage"}
	c.track("refs/cairn/tracks/c", files)
	c.forget("refs/cairn/tracks/c")
	c.track("refs/cairn/tracks/c", map[string]string{"one": "half of it"})
	for _, word := range []string{"kept", "garbage"} {
		git(t, c.Dir(), "loose "+word, "hash-object", "-w", "--stdin")
	}
	loose := object.Sum(object.Blob, []byte("loose kept"))
	must(t, c.SetRef("refs/cairn/loose", loose))
	c.objs[loose] = []byte("loose kept")
	c.of["refs/cairn/loose"] = map[object.ID]bool{loose: true}
	must(t, os.WriteFile(c.path(packDir, pack.TempPrefix+"0123"), []byte("left over"), 0o600))
	must(t, c.Close())
	must(t, os.CopyFS(c.pristine, os.DirFS(c.Dir())))
	return c
}

func (c *collectRun) reset() {
	c.t.Helper()
	must(c.t, os.RemoveAll(c.Dir()))
	must(c.t, os.CopyFS(c.Dir(), os.DirFS(c.pristine)))
}

// inspect looks at what a process has left: what is needed is there; cleaning up
// once more finishes the work and leaves nothing behind.
func (c *collectRun) inspect(what string) {
	c.t.Helper()
	db, err := Open(c.Dir(), testRoot, Options{NoSync: true})
	must(c.t, err)
	defer db.Close()
	after := &lines{DB: db, t: c.t, objs: c.objs, of: maps.Clone(c.of)}
	after.check(false)
	collect(c.t, db, Collection{Thorough: true})
	after.check(true)
	wantClean(c.t, db, what)
	if loose, err := db.allLoose(); err != nil || len(loose) > 0 {
		c.t.Errorf("%s: loose objects %v, %v", what, loose, err)
	}
	if n := len(db.PackNames()); n > 3 {
		c.t.Errorf("%s: %d packs", what, n)
	}
	if c.t.Failed() {
		c.t.Fatal(what)
	}
}

// TestR59_KilledInACollect kills the cleaning before each of its write-type system
// calls.
func TestR59_KilledInACollect(t *testing.T) {
	t.Parallel()
	c := newCollectRun(t)
	n := 1
	for ; ; n += gittest.Stride() {
		c.reset()
		child := childCommand("collect", c.Dir())
		crash := gittest.KillAt(t, []string{child.Path}, child.Env, gittest.WriteCalls, n)
		if !crash.Hit {
			if crash.ExitCode != 0 {
				t.Fatalf("undisturbed: %s", crash)
			}
			break
		}
		c.inspect(fmt.Sprintf("killed at call %d, %s", n, crash.Call))
	}
	t.Logf("%d write-type system calls", n-1)
}

// TestR59_KilledInARepack kills it where git makes the pack.
func TestR59_KilledInARepack(t *testing.T) {
	t.Parallel()
	needGit(t)
	c := &collectRun{lines: newLines(t), pristine: filepath.Join(t.TempDir(), "pristine")}
	files := make(map[string]string)
	for i := range packAt/2 + 1 {
		files[fmt.Sprint(i)] = fmt.Sprint("file ", i)
	}
	c.track("refs/cairn/tracks/a", files)
	c.fill("refs/cairn/tracks/b", 2)
	c.forget("refs/cairn/tracks/b")
	must(t, c.Close())
	must(t, os.CopyFS(c.pristine, os.DirFS(c.Dir())))
	n := 1
	for ; ; n += 3 * gittest.Stride() {
		c.reset()
		child := childCommand("repack", c.Dir())
		crash := gittest.KillAt(t, []string{child.Path}, child.Env, gittest.WriteCalls, n)
		if !crash.Hit {
			if names := must1(pack.List(c.path(packDir))); crash.ExitCode != 0 || len(names) != 1 {
				t.Fatalf("undisturbed: %s, packs %q", crash, names)
			}
			break
		}
		c.inspect(fmt.Sprintf("killed at call %d, %s", n, crash.Call))
	}
	t.Logf("%d write-type system calls", n-1)
}

// TestR69_CollectWriteErrors lets one write-type system call fail, or all from one
// on, as on a disk that is full: cleaning says so or succeeds all the same.
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
			for n := 1 + i; ; n += 3 * gittest.Stride() {
				c.reset()
				child := childCommand("collect", c.Dir())
				crash := fail(t, []string{child.Path}, child.Env, gittest.WriteCalls, n, f.errno)
				if !crash.Hit {
					break
				}
				what := fmt.Sprintf("%s at call %d: %s", f.errno, n, crash)
				if !slices.Contains([]int{0, 1}, crash.ExitCode) {
					t.Fatal(what)
				}
				c.inspect(what)
			}
		})
	}
}
