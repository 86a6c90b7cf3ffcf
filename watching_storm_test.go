package cairn_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func (w *watcher) do(errs ...error) {
	w.Helper()
	if err := errors.Join(errs...); err != nil {
		w.Fatal(err)
	}
}

// outside is a directory beside the root.
func (w *watcher) outside(tree gittest.Tree) string {
	dir := filepath.Join(w.TempDir(), "outside")
	gittest.Create(w, dir, tree)
	return dir
}

// Storms in which directories come, go and change places.
func TestWatchingDirectoriesThatMove(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	runStorms(t, map[string]func(w *watcher){
		"out of the tree": func(w *watcher) {
			away := filepath.Join(w.outside(nil), "d1")
			w.do(os.Rename(w.path("d1"), away))
			w.same("gone")
			w.do(os.WriteFile(filepath.Join(away, "sub", "f1"), []byte("nobody's business"), 0o644))
		},
		"out and back, edited meanwhile": func(w *watcher) {
			away := filepath.Join(w.outside(nil), "d1")
			w.do(os.Rename(w.path("d1"), away), os.WriteFile(filepath.Join(away, "sub", "f1"), []byte("edited outside"), 0o644), os.Rename(away, w.path("d1")))
		},
		"into the tree, with what is in it": func(w *watcher) {
			w.do(os.Rename(w.outside(gittest.Tree{"x/y": gittest.File("from outside"), "z": gittest.Dir()}), w.path("d1/new")))
			w.same("moved in")
			w.write("d1/new/x/y", "edited in its new place")
		},
		"renamed, and one of the old name made at once": func(w *watcher) {
			w.rename("d1", "e1")
			w.write("d1/sub/f1", "another")
			w.same("both")
			w.write("e1/sub/f2", "edited")
			w.write("d1/sub/f3", "new")
		},
		"renamed to and fro": func(w *watcher) {
			w.rename("d1", "e1")
			w.write("e1/sub/f1", "edited on the way")
			w.rename("e1", "d1")
		},
		"the root, and back": func(w *watcher) {
			away := w.root + ".away"
			w.do(os.Rename(w.root, away), os.WriteFile(filepath.Join(away, "d1", "sub", "f1"), []byte("edited while away"), 0o644), os.Rename(away, w.root))
		},
		"the root removed and made again": func(w *watcher) {
			w.do(os.RemoveAll(w.root), os.Mkdir(w.root, 0o755))
			w.write("d1/sub/f1", "the only one")
		},
		"the root, with another in its place, and the first one back": func(w *watcher) {
			away := w.root + ".away"
			w.do(os.Rename(w.root, away))
			gittest.Create(w, w.root, gittest.Tree{"another": gittest.File("one")})
			w.same("another")
			w.do(os.WriteFile(filepath.Join(away, "top"), []byte("edited while away"), 0o644), os.RemoveAll(w.root), os.Rename(away, w.root))
		},
		"what lies above the root": func(w *watcher) {
			up := filepath.Dir(w.root)
			w.do(os.Rename(up, up+".away"), os.WriteFile(filepath.Join(up+".away", "root", "top"), []byte("edited while away"), 0o644), os.Rename(up+".away", up))
		},
		"replaced by a link to itself elsewhere": func(w *watcher) {
			away := filepath.Join(w.outside(nil), "d1")
			w.do(os.Rename(w.path("d1"), away))
			w.symlink(away, "d1")
			w.same("a link")
			w.do(os.WriteFile(filepath.Join(away, "sub", "f1"), []byte("behind the link"), 0o644), os.Remove(w.path("d1")), os.Rename(away, w.path("d1")))
		},
	})
}

// Storms of what a scan has to look twice for.
func TestWatchingSmallChanges(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	runStorms(t, map[string]func(w *watcher){
		"a hard link made and removed": func(w *watcher) {
			w.do(os.Link(w.path("d1/sub/f1"), w.path("d2/linked")))
			w.same("made")
			w.remove("d1/sub/f1")
			w.same("the first name is gone")
		},
		"written through another name, found by Verify": func(w *watcher) {
			w.do(os.Link(w.path("d1/sub/f1"), w.path("d2/linked")))
			w.same("linked")
			w.write("d1/sub/f1", "through one of two names")
			w.verified("written")
		},
		"permissions, of many": func(w *watcher) {
			for d := range 20 {
				w.chmod(fmt.Sprintf("d%d", d), 0o711)
				w.chmod(fmt.Sprintf("d%d/sub/f%d", d, d%10), 0o755)
			}
			w.same("changed")
			w.chmod("d1", 0o755)
		},
		"permissions of the root": func(w *watcher) { w.chmod("", 0o711) },
		"size and time as before": func(w *watcher) {
			info, err := os.Lstat(w.path("top"))
			w.do(err)
			w.write("top", "pot")
			w.do(os.Chtimes(w.path("top"), info.ModTime(), info.ModTime()))
		},
		"one of equal names in two directories": func(w *watcher) {
			w.write("d1/sub/f1", "1")
			w.write("d2/sub/f1", "2")
		},
	})
}

// verified compares after a track that reads everything, which later ones go on from.
func (w *watcher) verified(when string) {
	w.Helper()
	got, err := w.watching.Track(w.Context(), cairn.TrackOptions{Verify: true})
	w.do(err)
	r, err := cairn.Open(w.apart)
	w.do(err)
	defer r.Close()
	want, err := r.Track(w.Context(), cairn.TrackOptions{Verify: true})
	w.do(err)
	if got.Hash != want.Hash {
		w.Fatalf("%s: %s, want %s", when, got.Hash, want.Hash)
	}
}

// TestWatchingWhileWriting: files that are made in a directory before it is watched, and all
// changes during a scan, are seen by the next scan at the latest. The queue overflows on the way,
// or does not.
func TestWatchingWhileWriting(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, watchedTree())
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	var wg sync.WaitGroup
	var done atomic.Int32
	for writer := range 2 {
		wg.Go(func() {
			defer done.Add(1)
			if err := scribble(w.root, writer, rounds); err != nil {
				w.Error(err)
			}
		})
	}
	for done.Load() < 2 {
		if _, err := w.watching.Track(w.Context(), cairn.TrackOptions{}); err != nil {
			w.Errorf("while somebody writes: %v", err)
		}
	}
	wg.Wait()
	w.same("afterwards")
	w.same("once more")
}

// scribble makes directories with files in them, and moves, removes and floods some.
func scribble(root string, writer, rounds int) (err error) {
	rng := rand.New(rand.NewPCG(uint64(writer), 5))
	for i := range rounds {
		dir := filepath.Join(root, fmt.Sprintf("w%d-%d", writer, i))
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
		for f := range 1 + rng.IntN(20) {
			name := filepath.Join(dir, []string{".", "a", "a/b"}[f%3], fmt.Sprint(f))
			err = errors.Join(err, os.WriteFile(name, fmt.Append(nil, writer, i, f), 0o644))
		}
		switch rng.IntN(8) {
		case 0:
			err = errors.Join(err, os.RemoveAll(dir))
		case 1:
			err = errors.Join(err, os.Rename(dir, dir+"-moved"))
		case 2:
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, "a")), os.Mkdir(filepath.Join(dir, "a"), 0o755))
		case 3:
			for n := range 400 {
				err = errors.Join(err, os.Chmod(filepath.Join(dir, []string{"0", "a"}[n%2]), []os.FileMode{0o755, 0o711}[n/2%2]))
			}
		}
	}
	return err
}

// TestWatchingOverflowWhileLooking: more happens than the queue holds, again and again, during a
// scan.
func TestWatchingOverflowWhileLooking(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("left out with -short: 100,000 calls")
	}
	w := newWatcher(t, watchedTree())
	finished := make(chan error)
	go func() {
		var err error
		for i := range 100_000 {
			name := w.path([]string{"top", "d1/sub/f1"}[i%2])
			err = errors.Join(err, os.Chmod(name, []os.FileMode{0o600, 0o755}[i/2%2]))
		}
		finished <- errors.Join(err, os.WriteFile(w.path("d2/sub/f2"), []byte("the last"), 0o644))
	}()
	for {
		select {
		case err := <-finished:
			w.do(err)
			w.same("afterwards")
			return
		default:
			if _, err := w.watching.Track(w.Context(), cairn.TrackOptions{}); err != nil {
				w.Errorf("while it overflows: %v", err)
			}
		}
	}
}

// TestWatchingHintedAlthoughIgnored: what only a hint has brought into a capture is
// watched from then on, as it is held from then on.
func TestWatchingHintedAlthoughIgnored(t *testing.T) {
	t.Parallel()
	for _, only := range []bool{false, true} {
		w := newWatcher(t, watchedTree())
		w.write("out/deep/x", "ignored")
		w.same("an ignored file")
		apart, err := cairn.Open(w.apart)
		w.do(err)
		defer apart.Close()
		for _, r := range []*cairn.Repo{w.watching, apart} {
			_, err := r.Track(t.Context(), cairn.TrackOptions{Paths: []string{"out/deep/x"}, OnlyPaths: only})
			w.do(err)
		}
		w.same("hinted")
		w.write("out/deep/x", "edited")
		w.same("edited")
		w.remove("out/deep")
		w.same("removed")
	}
}
