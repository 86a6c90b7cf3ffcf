package cairn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// watcher is a Repo that watches, beside one that always looks at everything.
type watcher struct {
	*fixture
	watching *cairn.Repo
	apart    cairn.Options
	visited  atomic.Int64 // files that the last capture of the watching one looked at
}

func newWatcher(t *testing.T, tree gittest.Tree) *watcher {
	t.Helper()
	return newWatcherOf(t, newFixture(t, tree))
}

func newWatcherOf(t *testing.T, f *fixture) *watcher {
	t.Helper()
	w := &watcher{fixture: f}
	gittest.NewOracle(t).Init(w.root)
	w.apart = w.opt
	w.apart.DataDir = filepath.Join(t.TempDir(), "apart")
	w.open()
	w.same("at first")
	if s := w.watching.Watching(); s.Directories == 0 {
		t.Skip("no watching here: ", s.Reason)
	}
	return w
}

// open opens the watching Repo, as a server does that starts.
func (w *watcher) open() {
	w.Helper()
	opt := w.opt
	opt.Watch = true
	opt.Progress = func(p cairn.Progress) { w.visited.Store(int64(p.Files)) }
	r, err := cairn.Open(opt)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { r.Close() })
	w.watching = r
}

// same compares a track of the watching Repo with one that reads everything.
func (w *watcher) same(when string) {
	w.Helper()
	w.visited.Store(0)
	before, _ := w.watching.Lookup(w.Context(), "@")
	got, err := w.watching.Track(w.Context(), cairn.TrackOptions{})
	if err != nil {
		w.Fatalf("%s: %v", when, err)
	}
	r, err := cairn.Open(w.apart)
	if err != nil {
		w.Fatal(err)
	}
	defer r.Close()
	want, err := r.Track(w.Context(), cairn.TrackOptions{Verify: true})
	if err != nil {
		w.Fatalf("%s: %v", when, err)
	}
	if got.Hash != want.Hash || got.Files != want.Files || !reflect.DeepEqual(got.Skipped, want.Skipped) {
		w.Fatalf("%s: watching gives %s of %d files, skipped %v; looking at everything %s of %d, %v",
			when, got.Hash, got.Files, got.Skipped, want.Hash, want.Files, want.Skipped)
	}
	w.counted(when, w.watching, before, got)
	a, b := w.checkpoint(w.watching, got), w.checkpoint(r, want)
	if a != b {
		w.Fatalf("%s: what git trees do not hold differs:\n%s\n%s", when, a, b)
	}
}

// counted compares what a track says has changed, since a checkpoint that vouches for
// everything, with what git says.
func (w *watcher) counted(when string, r *cairn.Repo, before *cairn.Checkpoint, after *cairn.TrackResult) {
	w.Helper()
	git := gittest.NewOracle(w.T)
	if before == nil || strings.Contains(git.CatFile(r.StoreDir(), before.ID), `"partial":`) {
		return
	}
	changed := git.DiffTree(r.StoreDir(), before.Hash, after.Hash, "--no-renames", "--name-only")
	if n := strings.Count(changed, "\n"); after.Changed != n {
		w.Fatalf("%s: %d paths have changed, not %d:\n%s", when, n, after.Changed, changed)
	}
}

// bare matches what the metadata say of ignored directories that hold nothing
// captured. One that has lost its last captured file is still listed once, so the list
// depends on when one looks.
var bare = regexp.MustCompile(`,"bare":\[[^]]*\]`)

// checkpoint prints the metadata of a checkpoint: permissions, empty directories and
// what was left out.
func (w *watcher) checkpoint(r *cairn.Repo, track *cairn.TrackResult) string {
	w.Helper()
	for line := range strings.Lines(gittest.NewOracle(w.T).CatFile(r.StoreDir(), track.Checkpoint)) {
		if strings.HasPrefix(line, "cairn ") {
			return bare.ReplaceAllString(line, "")
		}
	}
	w.Fatalf("checkpoint %s has no metadata", track.Checkpoint)
	return ""
}

func watchedTree() gittest.Tree {
	tree := gittest.Tree{"top": gittest.File("top"), "empty": gittest.Dir(), ".gitignore": gittest.File("*.log\n/out/\n")}
	for d := range 20 {
		for f := range 10 {
			tree[fmt.Sprintf("d%d/sub/f%d", d, f)] = gittest.File(fmt.Sprintf("%d %d", d, f))
		}
		tree[fmt.Sprintf("d%d/x.log", d)] = gittest.File("ignored")
	}
	return tree
}

func TestWatchingLooksAtWhatChanged(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, watchedTree())
	w.same("unchanged")
	if n := w.visited.Load(); n != 0 {
		t.Errorf("an unchanged track looks at %d files", n)
	}
	w.oneEdit("edited")
}

// oneEdit changes a file, for which few are to be looked at.
func (w *watcher) oneEdit(content string) {
	w.Helper()
	w.write("d3/sub/f4", content)
	w.same("one edit")
	if n := w.visited.Load(); n == 0 || n > 20 {
		w.Errorf("after one edit %d files were looked at", n)
	}
}

// On a file system that folds case, a process may write a .gitignore by another spelling.
func TestWatchingRulesInAnotherSpelling(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, watchedTree())
	w.write("d1/.GitIgnore", "")
	w.same("rules written")
	if n := w.visited.Load(); n < 200 {
		t.Errorf("after a change of rules %d files were looked at", n)
	}
}

// What happens between two tracks, by name.
func TestWatchingStorms(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	dirs := 200
	if testing.Short() {
		dirs = 10
	}
	runStorms(t, map[string]func(w *watcher){
		"20,000 files in 200 new directories": func(w *watcher) {
			for d := range dirs {
				for f := range 100 {
					w.write(fmt.Sprintf("new/%d/%d", d, f), "x")
				}
			}
		},
		"a directory renamed": func(w *watcher) {
			w.rename("d1", "e1")
			w.same("renamed")
			w.write("e1/sub/f1", "edited in its new place")
		},
		"two directories swapped": func(w *watcher) {
			w.rename("d1", "tmp")
			w.rename("d2", "d1")
			w.rename("tmp", "d2")
		},
		"a directory removed and made again": func(w *watcher) {
			w.remove("d1")
			w.write("d1/sub/f3", "another")
		},
		"made again before anybody has looked, with equal names": func(w *watcher) {
			w.remove("d1")
			for f := range 10 {
				w.write(fmt.Sprintf("d1/sub/f%d", f), "other contents")
			}
		},
		"a directory replaced by a link": func(w *watcher) {
			w.remove("d1")
			w.symlink("d2", "d1")
			w.same("replaced")
			w.write("d2/sub/f1", "behind the link")
		},
		"a file replaced by a directory": func(w *watcher) {
			w.remove("top")
			w.write("top/of/it", "x")
		},
		"overflow": func(w *watcher) {
			for i := range 17000 {
				if err := os.Chmod(w.path([]string{"top", "d1/sub/f1"}[i%2]), 0o600); err != nil {
					w.Fatal(err)
				}
			}
		},
		"permissions of a file":      func(w *watcher) { w.chmod("top", 0o755) },
		"permissions of a directory": func(w *watcher) { w.chmod("d4/sub", 0o750) },
		"an empty directory filled and emptied": func(w *watcher) {
			w.write("empty/x", "x")
			w.same("filled")
			w.remove("empty/x")
			w.same("emptied")
			w.remove("empty")
		},
		"rules that reach below": func(w *watcher) {
			w.write(".gitignore", "/out/\n")
			w.same("logs are seen")
			w.write(".gitignore", "*.log\nsub/\n")
			w.write("d5/sub/f11", "new and ignored")
		},
		"rules of the repository": func(w *watcher) {
			o := gittest.NewOracle(w.T)
			w.write(".git/info/exclude", "new*\n")
			w.write("d1/new1", "ignored")
			w.same("excluded")
			w.write(".git/info/exclude", "")
			w.same("not excluded any more")
			w.write("d1/x.log", "tracked")
			o.In(w.root, "add", "-f", "d1/x.log")
		},
		"an operation": func(w *watcher) {
			first := w.track()
			w.write("d6/sub/f1", "to be undone")
			w.remove("d7")
			w.same("before")
			if _, err := w.watching.Restore(w.Context(), first.Hash, cairn.RestoreOptions{}); err != nil {
				w.Fatal(err)
			}
			w.same("restored")
			if _, err := w.watching.Undo(w.Context(), cairn.RevertOptions{}); err != nil {
				w.Fatal(err)
			}
		},
		"an operation that keeps an ignored file of the repository": func(w *watcher) {
			first := w.track()
			gittest.NewOracle(w.T).In(w.root, "add", "-f", "d1/x.log")
			w.write("d6/sub/f1", "to be undone")
			if res, err := w.watching.Restore(w.Context(), first.Hash, cairn.RestoreOptions{}); err != nil || len(res.Kept) != 1 {
				w.Errorf("%+v, %v", res, err)
			}
		},
		"an operation of somebody else": func(w *watcher) {
			first := w.track()
			w.write("d6/sub/f1", "to be undone")
			w.same("before")
			w.restoreAll(first.Hash)
		},
		"a capture of somebody else": func(w *watcher) {
			w.write("d6/sub/f1", "seen by both")
			w.track()
		},
		"a capture that failed": func(w *watcher) {
			w.write("d6/sub/f1", "changed before the failure")
			ctx, cancel := context.WithCancel(w.Context())
			cancel()
			if _, err := w.watching.Track(ctx, cairn.TrackOptions{}); err == nil {
				w.Error("a cancelled track has succeeded")
			}
		},
		"hinted paths only": func(w *watcher) {
			w.write("d6/sub/f1", "hinted")
			w.write("d6/sub/f2", "not hinted")
			if _, err := w.watching.Track(w.Context(), cairn.TrackOptions{Paths: []string{"d6/sub/f1"}, OnlyPaths: true}); err != nil {
				w.Fatal(err)
			}
		},
		"cleaning": func(w *watcher) {
			w.write("top", "changed")
			w.same("changed")
			if _, err := w.watching.Clean(w.Context(), cairn.CleanOptions{}); err != nil {
				w.Fatal(err)
			}
			w.write("top", "changed again")
		},
		"the stat cache is lost": func(w *watcher) {
			removeIndex(w.T, w.fixture)
			w.write("top", "changed")
		},
		"the root replaced": func(w *watcher) {
			if err := os.Rename(w.root, w.root+".away"); err != nil {
				w.Fatal(err)
			}
			gittest.Create(w, w.root, gittest.Tree{"another": gittest.File("one")})
		},
	})
}

// runStorms compares before, after and once more after each.
func runStorms(t *testing.T, storms map[string]func(w *watcher)) {
	for name, storm := range storms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatcher(t, watchedTree())
			storm(w)
			w.same(name)
			w.same(name + ", again")
			w.write("last", "x")
			w.same("and after it")
		})
	}
}

func (f *fixture) rename(from, to string) {
	f.Helper()
	if err := os.Rename(f.path(from), f.path(to)); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) symlink(target, path string) {
	f.Helper()
	if err := os.Symlink(target, f.path(path)); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) chmod(path string, perm os.FileMode) {
	f.Helper()
	if err := os.Chmod(f.path(path), perm); err != nil {
		f.Fatal(err)
	}
}

// Random edits, of ignore rules too, seen by watching as by looking at everything.
// CAIRN_SOAK_TIME=1h goes on with further seeds for so long.
func TestWatchingEqualsLooking(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	seeds := 6
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			randomStorm(t, seed)
		})
	}
	text := os.Getenv("CAIRN_SOAK_TIME")
	if text == "" {
		return
	}
	lasts, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("CAIRN_SOAK_TIME=%s: %v", text, err)
	}
	for begun := time.Now(); time.Since(begun) < lasts && !t.Failed(); seeds++ {
		t.Run(fmt.Sprint("soak ", seeds), func(t *testing.T) { randomStorm(t, seeds) })
	}
}

// randomStorm also moves whole directories out of the root and into it. Between rounds the watching
// Repo may be another one, which finds a known store.
func randomStorm(t *testing.T, seed int) {
	rng := rand.New(rand.NewPCG(uint64(seed), 77))
	w := newWatcher(t, gittest.RandomTree(rng, gittest.RandomOptions{}))
	outside := filepath.Join(t.TempDir(), "outside")
	gittest.Create(t, outside, gittest.RandomTree(rng, gittest.RandomOptions{}))
	var names []string // of files in the root, outside of it
	for round := range 6 {
		if rng.IntN(3) == 0 {
			w.do(w.watching.Close())
			names = w.linkOutside()
			w.open()
			w.same(fmt.Sprintf("round %d: opened again", round))
		}
		edits := gittest.Mutate(t, rng, w.root, 1+rng.IntN(12))
		if len(names) > 0 && rng.IntN(2) == 0 {
			name := names[rng.IntN(len(names))]
			w.do(os.WriteFile(name, fmt.Append(nil, rng.Int64()), 0o644))
			edits = append(edits, "write to "+name)
		}
		if rng.IntN(3) == 0 {
			edits = append(edits, w.exchange(rng, outside)...)
		}
		if rng.IntN(2) == 0 {
			edits = append(edits, w.link(rng)...)
		}
		w.same(fmt.Sprintf("round %d: %v", round, edits))
	}
}

// linkOutside gives a quarter of the files names outside of the root, and returns those.
func (w *watcher) linkOutside() (names []string) {
	dir := w.TempDir()
	for i, file := range w.regularFiles() {
		name := filepath.Join(dir, fmt.Sprint(i))
		if i%4 == 0 && os.Link(file, name) == nil && os.Chmod(name, 0o644) == nil {
			names = append(names, name)
		}
	}
	return names
}

func (w *watcher) regularFiles() (files []string) {
	w.do(filepath.WalkDir(w.root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return nil // a directory that cannot be read has none
	}))
	return files
}

// link gives a file a second name beside the first, and may write through it.
func (w *watcher) link(rng *rand.Rand) []string {
	files := w.regularFiles()
	if len(files) == 0 {
		return nil
	}
	from := files[rng.IntN(len(files))]
	at := from + ".linked"
	if err := os.Link(from, at); err != nil {
		return nil
	}
	if rng.IntN(2) == 0 {
		w.do(os.WriteFile(at, fmt.Append(nil, rng.Int64()), 0o644))
	}
	return []string{fmt.Sprintf("link %q to %q", from, at)}
}

// exchange moves a directory between two places, or a file.
func (w *watcher) exchange(rng *rand.Rand, outside string) []string {
	from, to := w.root, outside
	if rng.IntN(2) == 0 {
		from, to = to, from
	}
	list, err := os.ReadDir(from)
	if err != nil {
		w.Fatal(err)
	}
	for _, i := range rng.Perm(len(list)) {
		name := list[i].Name()
		if _, err := os.Lstat(filepath.Join(to, name)); err == nil || name == ".git" {
			continue
		}
		if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			w.Fatal(err)
		}
		return []string{fmt.Sprintf("move %q from %s to %s", name, from, to)}
	}
	return nil
}
