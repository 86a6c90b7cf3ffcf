package cairn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// afterFiles is a context whose deadline passes when so many files were read: by the
// work that is done, not by a clock.
type afterFiles struct {
	context.Context
	limit int
	once  sync.Once
	done  chan struct{}
}

// cutShort makes the fixture's next captures end after limit files.
func (f *fixture) cutShort(limit int) context.Context {
	c := &afterFiles{Context: context.Background(), limit: limit, done: make(chan struct{})}
	f.opt.Workers = 1
	f.opt.Progress = func(p cairn.Progress) {
		if p.Files >= limit {
			c.pass()
		}
	}
	if limit == 0 {
		c.pass()
	}
	f.Cleanup(func() { f.opt.Progress = nil })
	return c
}

func (c *afterFiles) pass()                       { c.once.Do(func() { close(c.done) }) }
func (c *afterFiles) Done() <-chan struct{}       { return c.done }
func (c *afterFiles) Deadline() (time.Time, bool) { return time.Time{}, true }
func (c *afterFiles) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// manyDirs is n directories of four files.
func manyDirs(n int) gittest.Tree {
	tree := gittest.Tree{"top": gittest.File("t")}
	for i := range n {
		for j := range 4 {
			tree[fmt.Sprintf("d%02d/f%d", i, j)] = gittest.File(fmt.Sprintf("%d.%d", i, j))
		}
	}
	return tree
}

// settle waits until the stats of what was just written prove something: a file that
// is younger than that is read again by every capture.
func (f *fixture) settle() {
	f.Helper()
	info, err := os.Stat(f.root)
	if err != nil {
		f.Fatal(err)
	}
	if info.ModTime().Nanosecond() == 0 {
		time.Sleep(2 * time.Second)
	}
	time.Sleep(200 * time.Millisecond)
}

// bytesRead tracks and returns how many bytes of the directory that took.
func (f *fixture) bytesRead() (total int64) {
	f.Helper()
	var mu sync.Mutex
	f.opt.Progress = func(p cairn.Progress) {
		mu.Lock()
		defer mu.Unlock()
		total = max(total, p.Bytes)
	}
	f.track()
	f.opt.Progress = nil
	return total
}

// TestR81_TheNextTrackGoesOn: time that was spent on reading is not lost. An attempt
// that runs out of time makes no checkpoint, and the next one reads only the rest.
func TestR81_TheNextTrackGoesOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, manyDirs(20))
	f.settle()
	ctx := f.cutShort(40)
	_, err := f.repo().Track(ctx, cairn.TrackOptions{})
	assertError(t, err, cairn.ErrDeadline)
	if err == nil || !strings.Contains(err.Error(), "read 4") {
		t.Errorf("the error does not say how far it came: %v", err)
	}
	for c, err := range f.repo().Checkpoints(background) {
		t.Errorf("there is a checkpoint %v, or an error: %v", c, err)
	}
	second := f.bytesRead()
	fresh := newFixture(t, manyDirs(20))
	whole := fresh.bytesRead()
	if second == 0 || second > whole*2/3 {
		t.Errorf("read %d bytes, of %d in all", second, whole)
	}
	if got, want := f.trackAll(), fresh.trackAll(); got != want {
		t.Errorf("tracked %s, want %s", got, want)
	}
	gittest.NewOracle(t).Fsck(f.repo().StoreDir())
}

// TestR81_KeptWorkOutlivesTheCache: what a cut track has read is in the store for good,
// even where the stat cache is lost, and so is what was captured before although ignored.
func TestR81_KeptWorkOutlivesTheCache(t *testing.T) {
	t.Parallel()
	tree := manyDirs(10)
	tree["held.log"] = gittest.File("log")
	f := newFixture(t, tree)
	f.trackAll()
	f.write(".gitignore", "*.log\n")
	want := f.trackAll()
	for _, name := range []string{"index", "index.delta"} {
		os.Remove(f.repo().StoreDir() + "/cairn/" + name)
	}
	ctx := f.cutShort(8)
	_, err := f.repo().Track(ctx, cairn.TrackOptions{})
	assertError(t, err, cairn.ErrDeadline)
	f.opt.Progress = nil
	if got := f.trackAll(); got != want {
		t.Errorf("held files were forgotten: %s, want %s", got, want)
	}
}

// TestR72_PartialAtTheDeadline: the checkpoint holds what was read, with yesterday's
// bytes of nothing else, and going back to it deletes nothing that it did not see.
func TestR72_PartialAtTheDeadline(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{0, 1, 17, 40} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, manyDirs(15))
			whole := f.trackAll()
			for i := range 15 {
				f.write(fmt.Sprintf("d%02d/f0", i), "edited")
				f.write(fmt.Sprintf("d%02d/new", i), "new")
			}
			ctx := f.cutShort(limit)
			got, err := f.repo().Track(ctx, cairn.TrackOptions{AllowPartial: true})
			if err != nil {
				t.Fatal(err)
			}
			f.opt.Progress = nil
			if !got.TimedOut || got.Files >= 76 {
				t.Errorf("partial %v with %d files", got.TimedOut, got.Files)
			}
			f.claimsOnlyTheDisk(got)
			f.write("d03/later", "l")
			f.write("d14/later", "l")
			before := f.manifest()
			f.restore(got.Hash)
			after := f.manifest()
			for path := range before {
				if _, there := after[path]; !there && !strings.HasSuffix(path, "/later") {
					t.Errorf("going back deleted %s, which was there", path)
				}
			}
			if changes, err := f.repo().Changes(background, whole, got.Checkpoint); err != nil {
				t.Error(err)
			} else {
				for _, c := range changes {
					if c.Status == cairn.Deleted {
						t.Errorf("%s counts as deleted", c.Path)
					}
				}
			}
			f.restoreAll(whole)
			if f.exists("d03/new") || f.read("d14/f0") != "14.0" {
				t.Error("the whole state does not come back")
			}
		})
	}
}

// claimsOnlyTheDisk: whatever the checkpoint holds is on disk now; the rest is skipped.
func (f *fixture) claimsOnlyTheDisk(got *cairn.TrackResult) {
	f.Helper()
	r := f.repo()
	n := 0
	for e, err := range r.List(background, got.Checkpoint, "") {
		if err != nil {
			f.Fatal(err)
		}
		n++
		if text := readAt(f.T, f, got.Checkpoint, e.Path); text != f.read(e.Path) {
			f.Errorf("%s is %q in the checkpoint and %q on disk", e.Path, text, f.read(e.Path))
		}
	}
	if n != got.Files {
		f.Errorf("%d files, and %d are said", n, got.Files)
	}
	covered := func(path string) bool {
		return slices.ContainsFunc(got.Skipped, func(s cairn.SkippedPath) bool {
			return path == string(s.Path) || strings.HasPrefix(path, string(s.Path)+"/")
		})
	}
	for path, e := range f.manifest() {
		if e.Type == 'f' && !covered(path) {
			if ok, err := r.Exists(background, got.Checkpoint, path); !ok || err != nil {
				f.Errorf("%s is neither captured nor skipped (%v)", path, err)
			}
		}
	}
}

// TestPartialHintsFirst: hinted paths are read before all others.
func TestPartialHintsFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t, manyDirs(15))
	f.trackAll()
	f.write("d07/f2", "named")
	f.write("d00/f0", "not named")
	f.remove("d08/f1")
	ctx := f.cutShort(1)
	got, err := f.repo().Track(ctx, cairn.TrackOptions{AllowPartial: true, Paths: []string{"d07/f2", "d08/f1"}})
	if err != nil {
		t.Fatal(err)
	}
	f.opt.Progress = nil
	if text := readAt(t, f, got.Hash, "d07/f2"); text != "named" {
		t.Errorf("captured %q", text)
	}
	if ok, _ := f.repo().Exists(background, got.Hash, "d00/f0"); ok {
		t.Error("what was not read is in the checkpoint")
	}
	f.write("d08/f1", "back")
	f.write("d08/f3", "changed")
	f.restore(got.Hash)
	if f.exists("d08/f1") || f.read("d08/f3") != "changed" {
		t.Error("the named path is known to have been gone, the others are not known at all")
	}
}

// TestPartialRuleFileUnread: without the rules of its directory, it is not known which paths were
// ignored there.
func TestPartialRuleFileUnread(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*.o\n"), "a.o": gittest.File("o"), "z": gittest.File("z")})
	ctx := f.cutShort(0)
	got, err := f.repo().Track(ctx, cairn.TrackOptions{AllowPartial: true})
	if err != nil {
		t.Fatal(err)
	}
	f.opt.Progress = nil
	f.write(".gitignore", "")
	f.restore(got.Checkpoint)
	if !f.exists("a.o") || !f.exists("z") {
		t.Error("deleted on a guess")
	}
}

// TestOnlyPaths: the checkpoint holds the named paths and vouches for nothing else.
func TestOnlyPaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		"a": gittest.File("a1"), "b": gittest.File("b1"), "dir/x": gittest.File("x1"), "dir/y": gittest.File("y1"),
		"sub/deep/f": gittest.FileMode("f1", 0o600), "sub/deep/g": gittest.File("g1"), ".gitignore": gittest.File("*.o\n"), "dir/z.o": gittest.File("o"),
		"gone": gittest.File("g"),
	})
	whole := f.trackAll()
	for _, path := range []string{"a", "b", "dir/x", "dir/y", "sub/deep/f", "sub/deep/g"} {
		f.write(path, path+"2")
	}
	f.write("dir/new", "n")
	f.remove("gone")
	got, err := f.repo().Track(background, cairn.TrackOptions{OnlyPaths: true, Paths: []string{"a", "sub/deep/f", "gone", "never/was", f.path("dir/x")}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Extent != cairn.ExtentPaths || got.Files != 3 || got.Changed != 4 || len(got.Skipped) > 0 {
		t.Errorf("%+v", got)
	}
	text, err := json.Marshal(got)
	var again cairn.TrackResult
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || again.Extent != cairn.ExtentPaths || again.Hash != got.Hash || !strings.Contains(string(text), `"scope":"paths"`) {
		t.Errorf("in JSON %s, and read back %+v: %v", text, again, err)
	}
	changes, err := f.repo().Changes(background, whole, got.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range changes {
		names = append(names, c.Letter()+c.Path)
	}
	if want := []string{"Ma", "Mdir/x", "Dgone", "Msub/deep/f"}; !slices.Equal(names, want) {
		t.Errorf("changes %q, want %q", names, want)
	}
	rest := f.manifest()
	f.write("a", "a3")
	f.write("gone", "again")
	if res := f.restore(got.Checkpoint); !res.Complete() {
		t.Errorf("%+v", res)
	}
	gittest.AssertEqual(t, "going back to it", rest, f.manifest())
	f.write("b", "b3")
	res, err := f.repo().Revert(background, cairn.Range{From: whole, To: got.Checkpoint}, cairn.RevertOptions{OnConflict: cairn.Overwrite})
	if err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	if f.read("a") != "a1" || f.read("gone") != "g" || f.read("sub/deep/f") != "f1" {
		t.Error("what was named does not go back")
	}
	if f.read("b") != "b3" || f.read("dir/y") != "dir/y2" || !f.exists("dir/new") {
		t.Error("taking it back touched what it did not look at")
	}
	fresh := newFixture(t, nil)
	fresh.opt.Root = f.root
	if got, want := f.trackAll(), fresh.trackAll(); got != want {
		t.Errorf("the next whole checkpoint is %s, want %s", got, want)
	}
}

// TestOnlyPathsOfADirectory: one that is named is looked at as a whole, by its rules and
// by those above it.
func TestOnlyPathsOfADirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		".gitignore": gittest.File("*.o\n"), "dir/.gitignore": gittest.File("*.tmp\n"), "dir/a": gittest.File("a"), "dir/b.o": gittest.File("o"),
		"dir/c.tmp": gittest.File("t"), "dir/in/d": gittest.File("d"), "other": gittest.File("o"), "dir/empty": gittest.Dir(),
	})
	got, err := f.repo().Track(background, cairn.TrackOptions{OnlyPaths: true, Paths: []string{"dir"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Files != 3 {
		t.Errorf("%d files", got.Files)
	}
	state := f.manifest()
	f.remove(".gitignore")
	f.write("dir/in/new", "n")
	f.remove("dir/empty")
	f.write("dir/a", "edited")
	f.restore(got.Checkpoint)
	f.write(".gitignore", "*.o\n")
	gittest.AssertEqual(t, "the directory", state, f.manifest())
}

// TestHintsBesideIgnoredRules: a .gitignore that its own rules cover, or those above it,
// is read for its rules and brings nothing into this checkpoint or later ones.
func TestHintsBesideIgnoredRules(t *testing.T) {
	t.Parallel()
	for _, only := range []bool{false, true} {
		f := newFixture(t, gittest.Tree{
			".gitignore": gittest.File(".*\n*.o\n"), "a": gittest.File("a1"), "dir/.gitignore": gittest.File("x\n"),
			"dir/b": gittest.File("b1"), "dir/x": gittest.File("x1"), "dir/y.o": gittest.File("o1"),
		})
		oracle := gittest.NewOracle(t)
		r := f.repo()
		for i, paths := range [][]string{{"dir/b"}, {"a", "dir/b"}, {"dir"}} {
			f.write("a", fmt.Sprint("a", i))
			f.write("dir/b", fmt.Sprint("b", i))
			got, err := r.Track(background, cairn.TrackOptions{OnlyPaths: only, Paths: paths})
			if err != nil {
				t.Fatal(err)
			}
			if only && got.Files != len(paths) {
				t.Errorf("%q: %d files", paths, got.Files)
			}
			if want := oracle.WriteTree(f.root); !only && got.Hash != want {
				t.Errorf("%q: %s, git has %s", paths, got.Hash, want)
			}
			if got, want := f.trackAll(), oracle.WriteTree(f.root); got != want {
				t.Errorf("after %q: %s, git has %s", paths, got, want)
			}
		}
	}
}

// TestHintsIgnored: a file that is named is captured although ignored, from then on; one
// above MaxFileSize, and a directory, are not, and the former is said.
func TestHintsIgnored(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		".gitignore": gittest.File("out/\n.env\n"), ".env": gittest.File("e"), "out/log": gittest.File("l"), "out/big": gittest.File(strings.Repeat("b", 2<<20)), "out/x": gittest.File("x"),
	})
	f.opt.MaxFileSize = 1 << 20
	names := []string{".env", "out/log", "out/big"}
	got, err := f.repo().Track(background, cairn.TrackOptions{OnlyPaths: true, Paths: append(names, "out")})
	if err != nil {
		t.Fatal(err)
	}
	skippedAs(t, got.Skipped, "out/big", "too large")
	got, err = f.repo().Track(background, cairn.TrackOptions{Paths: names})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{".env": true, "out/log": true, "out/big": false, "out/x": false} {
		if ok, err := f.repo().Exists(background, got.Hash, path); ok != want || err != nil {
			t.Errorf("%s: %v, %v", path, ok, err)
		}
	}
	f.write(".env", "edited")
	f.restoreAll(got.Hash)
	if f.read(".env") != "e" {
		t.Error(".env does not come back")
	}
}

// TestHintsStayInside: no hint leads out of the root, through a link or into a .git.
func TestHintsStayInside(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"link": gittest.Link(".."), "a": gittest.File("a"), ".git/HEAD": gittest.File("ref: refs/heads/x\n"), "d/.GIT/x": gittest.File("x")})
	got, err := f.repo().Track(background, cairn.TrackOptions{OnlyPaths: true, Paths: []string{"link/etc", ".git/HEAD", "a", "d/.GIT/x", "a/b"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Files != 1 {
		t.Errorf("%+v", got)
	}
	_, err = f.repo().Track(background, cairn.TrackOptions{Paths: []string{"../x"}})
	assertError(t, err, cairn.ErrOutside)
	if _, err := f.repo().Track(background, cairn.TrackOptions{OnlyPaths: true}); err == nil {
		t.Error("nothing to look at, and no error")
	}
}

// TestOnlyPathsWhileWatching: the answer about some paths is not given again to a
// request for all.
func TestOnlyPathsWhileWatching(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, gittest.Tree{"a": gittest.File("a"), "b": gittest.File("b")})
	w.write("a", "edited")
	if _, err := w.watching.Track(background, cairn.TrackOptions{OnlyPaths: true, Paths: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	w.same("after a track of one path")
	w.write("b", "edited")
	w.same("after a change elsewhere")
}
