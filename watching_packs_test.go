package cairn_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// packCount is how many packs a store has.
func packCount(store string) int {
	packs, _ := filepath.Glob(filepath.Join(store, "objects", "pack", "*.idx"))
	return len(packs)
}

// trusted: another Repo believes the stat cache as it is.
func (f *fixture) trusted(when string) {
	f.Helper()
	var said bytes.Buffer
	opt := f.opt
	opt.Logger = slog.New(slog.NewTextHandler(&said, nil))
	r, err := cairn.Open(opt)
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Track(f.Context(), cairn.TrackOptions{}); err != nil {
		f.Fatal(err)
	}
	if strings.Contains(said.String(), "stat cache") {
		f.Errorf("%s: %s", when, said.String())
	}
}

// TestWatchingFoldsPacks: packs are folded between the tracks, no track looks at more for
// it, and the stat cache stays one that others believe.
func TestWatchingFoldsPacks(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	w := newWatcher(t, foldTree())
	most := 0
	for i := range 80 {
		w.write("top", fmt.Sprint("edit ", i))
		w.same(fmt.Sprint("edit ", i))
		if n := w.visited.Load(); n > 1 {
			t.Fatalf("edit %d: %d files were looked at", i, n)
		}
		if i%5 == 0 {
			w.do(w.watching.FoldNow())
			w.same(fmt.Sprint("unchanged ", i))
			if n := w.visited.Load(); n != 0 {
				t.Fatalf("edit %d: %d files were looked at, although nothing has changed", i, n)
			}
		}
		most = max(most, packCount(w.watching.StoreDir()))
	}
	w.do(w.watching.FoldNow())
	if n := packCount(w.watching.StoreDir()); n > 3*7 || most > 5*8+2*7 {
		t.Errorf("%d packs, at times %d", n, most)
	}
	w.trusted("folded")
	w.same("after a track of somebody else")
	w.closed()
	w.noLeftPacks()
}

// noLeftPacks: nothing is left behind beside packs.
func (f *fixture) noLeftPacks() {
	f.Helper()
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(f.indexDir()), "objects", "pack", "tmp_*"))
	if len(left) > 0 {
		f.Errorf("left behind: %q", left)
	}
}

// TestWatchingFoldsPacksBesideOthers: if another process has saved the stat cache, which names the
// packs, the packs stay until the watching Repo has scanned everything again.
func TestWatchingFoldsPacksBesideOthers(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, foldTree())
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 12 {
			if err := os.WriteFile(w.path("other/f"), fmt.Append(nil, "by another ", i), 0o644); err != nil {
				t.Error(err)
			}
			w.trusted(fmt.Sprint("beside, ", i))
		}
	})
	w.edits(40, topFile, func() { w.do(w.watching.FoldNow()) })
	wg.Wait()
	w.same("afterwards")
	w.do(w.watching.FoldNow())
	w.trusted("afterwards")
	w.closed()
	w.noLeftPacks()
}

// TestWatchingFoldsByItself: packs are folded when no capture has come for a while, and a
// track folds where captures do not pause.
func TestWatchingFoldsByItself(t *testing.T) {
	t.Parallel()
	for name, pause := range map[string]time.Duration{"idle": time.Nanosecond, "busy": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatcher(t, watchedTree())
			w.watching.IdleAfter(pause)
			most := 0
			w.edits(70, topFile, func() {
				if pause < time.Hour {
					w.watching.WaitIdle()
				}
				most = max(most, packCount(w.watching.StoreDir()))
			})
			if limit := map[string]int{"idle": 3 * 7, "busy": 4*8 + 3*7}[name]; most > limit {
				t.Errorf("%d packs", most)
			}
			w.same("afterwards")
			w.trusted("afterwards")
		})
	}
}

// TestCloseWhileFoldingPacks: Close gives up the unfinished pack, and nothing is left.
func TestCloseWhileFoldingPacks(t *testing.T) {
	t.Parallel()
	closedWhileFolding(t, topFile, func(w *watcher) {
		w.noLeftPacks()
		w.trusted("closed")
	})
}

// topFile is edited where a save is to be small: packs are folded then, and not the base.
func topFile(int) string { return "top" }

// nearlyCrowded makes as many small packs as are not yet folded, but for one.
func (f *fixture) nearlyCrowded() {
	for i := range 6 {
		f.write("top", fmt.Sprint("before ", i))
		f.track()
	}
}

// foldPacksAsProcess is a watching process that folds packs.
func foldPacksAsProcess(r *cairn.Repo) error {
	before := packCount(r.StoreDir())
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(r.Root(), "top"), fmt.Append(nil, "by the process ", i), 0o644); err != nil {
			return err
		}
		if _, err := r.Track(background, cairn.TrackOptions{}); err != nil {
			return err
		}
		if err := r.FoldNow(); err != nil {
			return err
		}
	}
	if packCount(r.StoreDir()) >= before {
		return errors.New("not folded")
	}
	return nil
}

// TestR93_KilledWhileFoldingPacks kills a process that folds packs before each of its
// write-type system calls, and lets each of them fail.
func TestR93_KilledWhileFoldingPacks(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	struckWhileFolding(t, "packs", (*fixture).nearlyCrowded)
}
