package cairn_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// indexTree is what the files of the stat cache hold.
func (f *fixture) indexTree() string {
	f.Helper()
	dir := f.indexDir()
	x, err := index.Load(index.File{Base: filepath.Join(dir, "index"), Delta: filepath.Join(dir, "index.delta")})
	if err != nil || x.Root() == nil {
		f.Fatal("no stat cache: ", err)
	}
	return x.Root().Tree.String()
}

// TestV33_StatCacheIsSavedAtOnce: the files of the stat cache hold what a Repo that watches
// has captured, so that another process reads nothing again.
func TestV33_StatCacheIsSavedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, watchedTree())
	for i := range 4 {
		w.write("d1/sub/f1", fmt.Sprint("edit ", i))
		w.write(fmt.Sprint("new/", i), "new")
		if want, got := w.tracked(), w.indexTree(); got != want {
			t.Errorf("edit %d: saved %s, captured %s", i, got, want)
		}
	}
}

func (w *watcher) tracked() string {
	w.Helper()
	got, err := w.watching.Track(w.Context(), cairn.TrackOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return got.Hash
}

// TestWatchingAndAnother: a Repo that watches and one that goes by the stat cache find what
// one that reads everything finds, whatever happens between two tracks.
func TestWatchingAndAnother(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, do := range map[string]func(w *watcher){
		"nothing":             func(*watcher) {},
		"the same file again": func(w *watcher) { w.write("d1/sub/f1", "again") },
		"a new file is ignored": func(w *watcher) {
			w.write("late.txt", "was captured")
			w.tracked()
			w.write(".gitignore", "*.log\n/out/\nlate.txt\n")
		},
		"a file is ignored and comes back": func(w *watcher) {
			w.remove("d2/sub/f2")
			w.tracked()
			w.write(".gitignore", "*.log\n/out/\nf2\n")
			w.write("d2/sub/f2", "ignored now")
		},
		"a directory becomes a file": func(w *watcher) {
			w.do(os.RemoveAll(w.path("d2")))
			w.write("d2", "file")
			w.tracked()
		},
		"an earlier state comes back": func(w *watcher) {
			w.write("d1/sub/f1", fmt.Sprint(1, " ", 1))
		},
		"it restores": func(w *watcher) {
			before := w.tracked()
			w.write("d4/sub/f4", "later")
			w.tracked()
			w.restoreBy(w.watching, before)
		},
		"another restores": func(w *watcher) {
			before := w.tracked()
			w.write("d4/sub/f4", "later")
			w.tracked()
			w.restoreBy(w.repo(), before)
		},
		"it has nothing to restore": func(w *watcher) { w.restoreBy(w.watching, w.tracked()) },
		"it cleans":                 func(w *watcher) { w.cleanBy(w.watching) },
		"another cleans":            func(w *watcher) { w.cleanBy(w.repo()) },
		"it purges":                 func(w *watcher) { w.purgeBy(w.watching) },
		"another purges":            func(w *watcher) { w.purgeBy(w.repo()) },
		"it looks at a part": func(w *watcher) {
			w.write("d5/sub/f5", "hinted")
			_, err := w.watching.Track(w.Context(), cairn.TrackOptions{Paths: []string{"d5"}, OnlyPaths: true})
			w.do(err)
		},
		"a capture fails": func(w *watcher) {
			w.write("d5/sub/f5", "not captured")
			ctx, cancel := context.WithDeadline(w.Context(), time.Unix(1, 0))
			defer cancel()
			if _, err := w.watching.Track(ctx, cairn.TrackOptions{}); err == nil {
				w.Error("no error")
			}
		},
		"the stat cache is removed": func(w *watcher) {
			w.do(os.Remove(filepath.Join(w.indexDir(), "index")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatcher(t, watchedTree())
			w.write("d1/sub/f1", "with the others")
			w.write("d3/new", "with the others")
			w.remove("d3/sub/f3")
			w.tracked()
			do(w)
			other, err := w.repo().Track(t.Context(), cairn.TrackOptions{})
			w.do(err)
			if got := w.tracked(); got != other.Hash {
				t.Errorf("%s, another Repo finds %s", got, other.Hash)
			}
			w.settled("by another")
			w.write("d6/sub/f6", "afterwards")
			w.tracked()
			w.closed()
			w.settled("closed")
			gittest.NewOracle(t).Fsck(cairn.StorePath(w.data, mustEval(t, w.root)))
		})
	}
}

func (w *watcher) restoreBy(r *cairn.Repo, hash string) {
	w.Helper()
	if res, err := r.Restore(w.Context(), hash, cairn.RestoreOptions{}); err != nil || !res.Complete() {
		w.Fatalf("restore %s: %+v, %v", hash, res, err)
	}
}

func (w *watcher) cleanBy(r *cairn.Repo) {
	w.Helper()
	_, err := r.Clean(w.Context(), cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 1, KeepLast: 1}, Thorough: true})
	w.do(err)
}

func (w *watcher) purgeBy(r *cairn.Repo) {
	w.Helper()
	done, err := r.Purge(w.Context(), []string{"d3"})
	w.do(err)
	if len(done.Paths) != 1 {
		w.Errorf("purged: %+v", done)
	}
}

// TestWatchingAfterCleaning: what a Repo has cleaned itself it need not look through.
func TestWatchingAfterCleaning(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, watchedTree())
	for i := range 3 {
		w.write("d3/sub/f4", fmt.Sprint("edit ", i))
		w.tracked()
	}
	w.cleanBy(w.watching)
	w.visited.Store(0)
	want := w.tracked()
	if n := w.visited.Load(); n != 0 {
		t.Errorf("an unchanged track after it looks at %d files", n)
	}
	w.oneEdit("edited since")
	w.write("d3/sub/f4", "edit 2")
	if got := w.tracked(); got != want {
		t.Errorf("the edit taken back: %s, was %s", got, want)
	}
}
