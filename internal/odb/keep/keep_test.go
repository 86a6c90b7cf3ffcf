package keep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestMain(m *testing.M) {
	gittest.Prepare()
	m.Run()
}

// world is a repository with a vault for its objects.
type world struct {
	*gittest.Oracle
	t     testing.TB
	dir   string
	vault *Vault
	ids   []string // of commits
}

func newWorld(t *testing.T, args ...string) *world {
	t.Helper()
	gittest.NeedGit(t)
	o := gittest.NewOracle(t)
	top := t.TempDir()
	w := &world{Oracle: o, t: t, dir: o.Init(filepath.Join(top, "w"), args...), vault: At(filepath.Join(top, "vault"), true)}
	for _, text := range []string{"one", "two", "three"} {
		w.commit(text)
	}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) commit(text string) {
	w.t.Helper()
	w.must(os.WriteFile(filepath.Join(w.dir, "file"), []byte(text+"\n"), 0o644))
	w.ids = append(w.ids, w.Commit(w.dir, text))
}

func (w *world) keep(dir string, opt Options) Result {
	w.t.Helper()
	repo, err := git.Find(dir)
	w.must(err)
	opt.SHA256 = repo.SHA256
	res, err := w.vault.Keep(context.Background(), repo.ObjectDirs(), opt)
	w.must(err)
	return res
}

// holds has git read every commit of the vault with everything that it leads to.
func (w *world) holds() bool {
	w.t.Helper()
	for _, id := range w.ids {
		if _, err := w.Try(w.vault.Dir(), "rev-list", "--objects", id); err != nil {
			return false
		}
	}
	return true
}

// lose drops every commit but the first, and all that leads to the others.
func (w *world) lose() {
	w.t.Helper()
	w.In(w.dir, "reset", "-q", "--hard", w.ids[0])
	w.In(w.dir, "reflog", "expire", "--expire=now", "--all")
	w.In(w.dir, "gc", "-q", "--prune=now")
}

// TestSurvives: whatever becomes of the user's repository, the vault has the objects.
func TestSurvives(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for _, format := range []string{"sha1", "sha256"} {
		for name, destroy := range map[string]func(*world){
			"nothing": func(*world) {},
			"gc":      (*world).lose,
			"removed": func(w *world) { w.must(os.RemoveAll(filepath.Join(w.dir, ".git"))) },
		} {
			for _, packed := range []string{"loose", "packed", "mixed"} {
				t.Run(strings.Join([]string{format, name, packed}, "/"), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, "--object-format="+format)
					if packed != "loose" {
						w.In(w.dir, "gc", "-q")
					}
					if packed == "mixed" {
						w.commit("four")
					}
					if res := w.keep(w.dir, Options{}); res.Left > 0 || res.Copied > 0 || res.Linked == 0 {
						t.Fatalf("result %+v", res)
					}
					if res := w.keep(w.dir, Options{}); res.Linked > 0 {
						t.Errorf("a second time it links %d files", res.Linked)
					}
					destroy(w)
					if !w.holds() {
						t.Error("the vault lacks an object")
					}
					if out, err := w.Try(w.vault.Dir(), "fsck", "--full", "--strict", "--no-dangling"); err != nil || strings.Contains(out, "error") {
						t.Errorf("git fsck of the vault: %v\n%s", err, out)
					}
				})
			}
		}
	}
}

// TestGitDeletesNothing: a git that works in the vault leaves the objects, although no ref leads to
// them.
func TestGitDeletesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keep(w.dir, Options{})
	w.must(os.RemoveAll(filepath.Join(w.dir, ".git")))
	for _, args := range []string{"gc --prune=now", "prune", "repack -a -d", "prune-packed"} {
		_, _ = w.Try(w.vault.Dir(), strings.Fields(args)...)
	}
	if !w.holds() {
		t.Error("git has deleted objects of the vault")
	}
}

// TestSharedClone: objects that the repository borrows survive the repository that lends them.
func TestSharedClone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	clone := filepath.Join(filepath.Dir(w.dir), "clone")
	w.In(filepath.Dir(w.dir), "clone", "-q", "--shared", w.dir, clone)
	w.keep(clone, Options{})
	w.must(os.RemoveAll(w.dir))
	if !w.holds() {
		t.Error("the vault lacks an object of the lender")
	}
}

// TestCopies: where the system makes no link, files are copied as long as there is room.
func TestCopies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.In(w.dir, "gc", "-q")
	w.commit("four")
	w.vault.link = func(string, string) error { return errors.New("other file system") }
	full := w.keep(w.dir, Options{Room: func(int64) bool { return false }})
	if full.Left == 0 || full.Copied > 0 || full.Why == nil || w.holds() {
		t.Errorf("without room: %+v", full)
	}
	if res := w.keep(w.dir, Options{Room: func(int64) bool { return true }}); res.Left > 0 || res.Copied == 0 {
		t.Errorf("with room: %+v", res)
	}
	w.must(os.RemoveAll(filepath.Join(w.dir, ".git")))
	if !w.holds() {
		t.Error("the vault lacks an object")
	}
}

// TestOnlyCopies: a vault that is told to copy shares no file with the repository.
func TestOnlyCopies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if res := w.keep(w.dir, Options{Copy: true}); res.Linked > 0 || res.Copied == 0 || !w.holds() {
		t.Errorf("result %+v", res)
	}
}

// TestUntouched: contents, permissions and times of the user's repository stay as they were.
func TestUntouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := gittest.Manifest(t, w.dir, gittest.WantTimes, gittest.WantDirTimes)
	w.keep(w.dir, Options{})
	gittest.AssertEqual(t, "the repository", before, gittest.Manifest(t, w.dir, gittest.WantTimes, gittest.WantDirTimes))
}

// TestTrim: a file goes when the repository dropped it before the oldest record, not earlier.
func TestTrim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keep(w.dir, Options{})
	start := time.Unix(1_000_000, 0)
	trim := func(l Limits) Trimmed {
		t.Helper()
		if l.Most == 0 {
			l.Most = -1
		}
		res, err := w.vault.Trim(l)
		w.must(err)
		return res
	}
	if res := trim(Limits{Now: start, Oldest: start}); res.Freed != 0 {
		t.Errorf("freed %d bytes that the repository has", res.Freed)
	}
	w.lose()
	if trim(Limits{Now: start, Oldest: start.Add(-time.Hour)}); !w.holds() {
		t.Error("dropped too early")
	}
	if trim(Limits{Now: start.Add(2 * time.Hour), Oldest: start}); !w.holds() {
		t.Error("dropped, although the oldest record is as old as the loss")
	}
	if res := trim(Limits{Now: start.Add(2 * time.Hour), Oldest: start.Add(time.Second)}); res.Freed == 0 || w.holds() {
		t.Error("not dropped")
	}
}

// TestTrimCovered: what one pack of the repository holds needs no second file.
func TestTrimCovered(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		w := newWorld(t, "--object-format="+format)
		w.keep(w.dir, Options{}) // loose objects
		w.In(w.dir, "gc", "-q")
		w.keep(w.dir, Options{}) // a pack
		w.commit("four")
		w.In(w.dir, "gc", "-q")
		w.keep(w.dir, Options{}) // a larger one
		now := time.Unix(1_000_000, 0)
		if _, err := w.vault.Trim(Limits{Now: now, Oldest: now.Add(-time.Hour), Most: -1}); err != nil {
			t.Fatal(err)
		}
		files, err := w.vault.list()
		w.must(err)
		if len(files) != 1 || !w.holds() {
			t.Errorf("%s: %d files are left, whole: %v", format, len(files), w.holds())
		}
	}
}

// TestTrimMost: what takes room stays below the limit, and what was lost last stays longest.
func TestTrimMost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keep(w.dir, Options{})
	w.must(os.RemoveAll(filepath.Join(w.dir, ".git")))
	now := time.Unix(1_000_000, 0)
	size := func() (n int64) {
		files, err := w.vault.list()
		w.must(err)
		for _, k := range files {
			n += k.size
		}
		return n
	}
	most := size() / 2
	res, err := w.vault.Trim(Limits{Now: now, Oldest: now.Add(-time.Hour), Most: most})
	w.must(err)
	if res.Early == 0 || size() > most || size() == 0 {
		t.Errorf("trimmed %+v, %d bytes are left of %d", res, size(), most)
	}
}

// TestOtherFormat: a repository that was made again with another object format gets a new vault.
func TestOtherFormat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keep(w.dir, Options{})
	w.must(os.RemoveAll(filepath.Join(w.dir, ".git")))
	w.Init(w.dir, "--object-format=sha256")
	w.ids = nil
	w.commit("new")
	w.keep(w.dir, Options{})
	if !w.holds() {
		t.Error("the vault lacks an object")
	}
}

// TestReturned: an object that was dropped and comes back is taken again.
func TestReturned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keep(w.dir, Options{})
	moved := filepath.Join(filepath.Dir(w.dir), "moved")
	w.must(os.Rename(filepath.Join(w.dir, ".git"), moved))
	_, err := w.vault.Trim(Limits{Now: time.Now(), Most: 0})
	w.must(err)
	if w.holds() {
		t.Fatal("the vault still has the objects")
	}
	w.must(os.Rename(moved, filepath.Join(w.dir, ".git")))
	w.keep(w.dir, Options{})
	if !w.holds() {
		t.Error("the vault lacks an object")
	}
}
