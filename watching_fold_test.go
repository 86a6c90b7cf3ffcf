package cairn_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// foldTree has directories of which a save writes each by its path when something has changed in
// the lowest: the stat cache is rewritten after a few edits there.
func foldTree() gittest.Tree {
	tree := gittest.Tree{"top": gittest.File("top"), "other/f": gittest.File("f")}
	for f := range 120 {
		tree[foldFile(f)] = gittest.File(fmt.Sprint(f))
	}
	return tree
}

func foldFile(i int) string { return fmt.Sprintf("%s/%03d", foldDir(), i) }

// foldDir is as deep as a path may be, but where there is no watching anyway.
func foldDir() string {
	depth := 1
	if runtime.GOOS == "linux" {
		depth = 13
	}
	return "large" + strings.Repeat("/"+strings.Repeat("n", 240), depth)
}

// deltaSize is 0 without a delta.
func (f *fixture) deltaSize() int64 {
	info, err := os.Stat(filepath.Join(f.indexDir(), "index.delta"))
	if err != nil {
		return 0
	}
	return info.Size()
}

func (f *fixture) indexDir() string {
	return filepath.Join(cairn.StorePath(f.data, mustEval(f.T, f.root)), "cairn")
}

// baseID is what tells one base of the stat cache from another.
func baseID(indexDir string) string {
	data, err := os.ReadFile(filepath.Join(indexDir, "index"))
	if err != nil || len(data) < 16 {
		return fmt.Sprintf("%d bytes, %v", len(data), err)
	}
	return string(data[8:16])
}

// growDelta edits and tracks until the next such edit is one too many.
func (f *fixture) growDelta() {
	f.Helper()
	for i := 0; f.deltaSize() < 232<<10; i++ {
		if i == 20 {
			f.Fatalf("a delta of %d bytes after %d edits", f.deltaSize(), i)
		}
		f.write(foldFile(i), fmt.Sprint("grow ", i))
		f.track()
	}
}

// TestWatchingFolds: the base is rewritten beside the tracks, and no track scans more because of
// it.
func TestWatchingFolds(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	w := newWatcher(t, foldTree())
	bases := make(map[string]bool)
	for i := range 60 {
		w.write(foldFile(i), fmt.Sprint("edit ", i))
		w.same(fmt.Sprint("edit ", i))
		if n := w.visited.Load(); n > 2 {
			t.Fatalf("edit %d: %d files were looked at", i, n)
		}
		if i%3 == 0 {
			w.do(w.watching.FoldNow())
			w.same(fmt.Sprint("unchanged ", i))
			if n := w.visited.Load(); n != 0 {
				t.Fatalf("edit %d: %d files were looked at, although nothing has changed", i, n)
			}
		}
		if size := w.deltaSize(); size > 1<<20 {
			t.Fatalf("a delta of %d bytes", size)
		}
		bases[baseID(w.indexDir())] = true
	}
	if len(bases) < 4 {
		t.Errorf("written anew %d times", len(bases)-1)
	}
	w.do(w.watching.FoldNow())
	w.same("after a track of somebody else")
	w.closed()
	w.noTemporaries()
}

// noTemporaries: nothing is left behind beside the stat cache.
func (f *fixture) noTemporaries() {
	f.Helper()
	list, err := os.ReadDir(f.indexDir())
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), atomicfile.Prefix) {
			f.Errorf("left behind: %s", e.Name())
		}
	}
}

// TestWatchingFoldsBesideOthers: other Repos, which come and go, track at the same time
// and save, and fold, too.
func TestWatchingFoldsBesideOthers(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, foldTree())
	var wg sync.WaitGroup
	for other := range 2 {
		wg.Go(func() {
			for i := range 15 {
				r, err := cairn.Open(w.opt)
				if err == nil {
					err = os.WriteFile(w.path(foldFile(60+15*other+i)), fmt.Append(nil, "by another ", i), 0o644)
				}
				if err == nil {
					_, err = r.Track(w.Context(), cairn.TrackOptions{})
				}
				if err != nil {
					t.Error(err)
				}
				r.Close()
			}
		})
	}
	w.edits(30, foldFile, func() { w.do(w.watching.FoldNow()) })
	wg.Wait()
	w.same("afterwards")
	w.do(w.watching.FoldNow())
	w.same("once more")
	w.closed()
	w.noTemporaries()
}

// closed closes the Repo that watches, which has temporary files ready as long as it is
// open.
func (w *watcher) closed() { w.do(w.watching.Close()) }

// edits tracks n edits in a row, and calls then after each.
func (w *watcher) edits(n int, path func(i int) string, then func()) {
	w.Helper()
	for i := range n {
		w.write(path(i), fmt.Sprint("edit ", i))
		if _, err := w.watching.Track(w.Context(), cairn.TrackOptions{}); err != nil {
			w.Error(err)
		}
		then()
	}
}

// TestCloseWhileFolding: Close gives up the unfinished files, and the old pair counts.
func TestCloseWhileFolding(t *testing.T) {
	t.Parallel()
	closedWhileFolding(t, foldFile, func(w *watcher) { w.noTemporaries() })
}

// closedWhileFolding closes a Repo after edits that make it fold, and looks at what is
// left.
func closedWhileFolding(t *testing.T, path func(i int) string, left func(*watcher)) {
	for round := range 4 {
		w := newWatcher(t, foldTree())
		w.watching.IdleAfter(time.Nanosecond)
		w.edits(7+round, path, func() {})
		if err := w.watching.Close(); err != nil {
			t.Fatal(err)
		}
		left(w)
		w.settled("closed")
	}
}

// settled: a track that goes by the stat cache finds what one finds that reads
// everything.
func (f *fixture) settled(when string) {
	f.Helper()
	got := f.track()
	want, err := f.repo().Track(f.Context(), cairn.TrackOptions{Verify: true})
	if err != nil {
		f.Fatal(err)
	}
	if got.Hash != want.Hash {
		f.Fatalf("%s: %s by the stat cache, %s by reading everything", when, got.Hash, want.Hash)
	}
}

// foldAsProcess is a watching process that rewrites the stat cache, with edits before and after.
func foldAsProcess(r *cairn.Repo) error {
	indexDir := filepath.Join(r.StoreDir(), "cairn")
	base := baseID(indexDir)
	for i := range 4 {
		path := filepath.Join(r.Root(), filepath.FromSlash(foldFile(100+i)))
		if err := os.WriteFile(path, fmt.Append(nil, "by the process ", i), 0o644); err != nil {
			return err
		}
		if _, err := r.Track(background, cairn.TrackOptions{}); err != nil {
			return err
		}
		if i > 1 {
			if err := r.FoldNow(); err != nil {
				return err
			}
		}
	}
	if baseID(indexDir) == base {
		return errors.New("not written anew")
	}
	return nil
}

// TestR93_KilledWhileFolding kills a process that rewrites the stat cache before each of its
// write-type system calls, and lets each of them fail.
func TestR93_KilledWhileFolding(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	struckWhileFolding(t, "fold", (*fixture).growDelta)
}

// struckWhileFolding strikes a process that runs a command on what prepare has made.
func struckWhileFolding(t *testing.T, command string, prepare func(*fixture)) {
	for _, name := range []string{"killed", "failed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &crashRun{fixture: newFixture(t, foldTree()), oracle: gittest.NewOracle(t), pristine: t.TempDir()}
			c.trackAll()
			prepare(c.fixture)
			c.closeAll()
			gittest.CopyTree(t, c.root, filepath.Join(c.pristine, "root"))
			gittest.CopyTree(t, c.data, filepath.Join(c.pristine, "data"))
			check := func(when string) {
				c.settled(when)
				c.oracle.Fsck(cairn.StorePath(c.data, mustEval(t, c.root)))
				c.noTemporaries()
				c.closeAll()
			}
			if name == "killed" {
				gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
					c.reset()
					return gittest.KillAt(t, []string{os.Args[0]}, c.env(command), gittest.WriteCalls, n)
				}, check)
				return
			}
			gittest.Failed(t, []syscall.Errno{syscall.ENOSPC}, gittest.First(), gittest.Stride(), func(n int, errno syscall.Errno) gittest.Crash {
				c.reset()
				return gittest.FailAt(t, []string{os.Args[0]}, c.env(command), gittest.WriteCalls, n, errno)
			}, func(when string, _ gittest.Crash) { check(when) })
		})
	}
}
