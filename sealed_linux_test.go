package cairn_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// listings notes how many directories the last scan has listed.
type listings struct {
	slog.Handler
	last int64
}

func (l *listings) Enabled(context.Context, slog.Level) bool { return true }

func (l *listings) Handle(_ context.Context, rec slog.Record) error {
	rec.Attrs(func(a slog.Attr) bool {
		if rec.Message == "scanned" && a.Key == "listed" {
			l.last = a.Value.Int64()
		}
		return true
	})
	return nil
}

// TestListedAgain: a directory that is as it was is not listed, but for all that may
// bring in a name that was passed over.
func TestListedAgain(t *testing.T) {
	t.Parallel()
	oracle := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{
		".gitignore": gittest.File("*.o\n"), "d/a": gittest.File("a"), "d/b": gittest.File("b"),
		"d/f.o": gittest.File(""), "d/f.info": gittest.File(""), "d/f.home": gittest.File(""), "d/f.CASE": gittest.File(""),
		"d/f.include": gittest.File(""), "d/large": gittest.File("large"), "d/e/c": gittest.File("c"),
	})
	needStamps(t, f.root)
	oracle.Init(f.root)
	home := t.TempDir()
	put := func(path, content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/ignore\n")
	put(filepath.Join(home, "ignore"), "*.home\n*.include\n")
	put(f.path(".git/info/exclude"), "*.info\n*.case\n")
	oracle.In(f.root, "config", "core.ignoreCase", "true")
	listed := &listings{Handler: slog.DiscardHandler}
	f.opt.Home, f.opt.MaxFileSize, f.opt.Logger = home, 4+1, slog.New(listed)
	put(f.path("d/large"), "larger than that")

	want := []string{".gitignore", "d/a", "d/b", "d/e/c"}
	for _, step := range []struct {
		name string
		edit func()
		more []string // captured then
		less []string
	}{
		{"nothing", func() {}, nil, nil},
		{"info/exclude", func() { put(f.path(".git/info/exclude"), "*.case\n") }, []string{"d/f.info"}, nil},
		{"core.ignoreCase", func() { oracle.In(f.root, "config", "core.ignoreCase", "false") }, []string{"d/f.CASE"}, nil},
		{"core.excludesFile", func() { put(filepath.Join(home, "ignore"), "*.include\n") }, []string{"d/f.home"}, nil},
		{"another core.excludesFile", func() { put(filepath.Join(home, ".gitconfig"), ""); f.write("d/e/g.include", "") }, []string{"d/f.include", "d/e/g.include"}, nil},
		{"git add -f", func() { oracle.In(f.root, "add", "-f", "d/f.o") }, []string{"d/f.o"}, nil},
		{"a higher limit", func() { f.opt.MaxFileSize = 0 }, []string{"d/large"}, nil},
		{"a deny list", func() { f.opt.Never = []string{"b"} }, nil, []string{"d/b"}},
		{"none any more", func() { f.opt.Never = nil }, []string{"d/b"}, nil},
		{"rules in the tree", func() { f.write("d/e/h.o", ""); f.write(".gitignore", "#\n") }, []string{"d/e/h.o"}, nil},
	} {
		f.listNone(listed)
		step.edit()
		hash := f.track().Hash
		if listed.last == 0 && step.name != "nothing" {
			t.Errorf("%s: nothing was listed", step.name)
		}
		want = slices.DeleteFunc(append(want, step.more...), func(p string) bool { return slices.Contains(step.less, p) })
		slices.Sort(want)
		if got := f.files(hash); !slices.Equal(got, want) {
			t.Errorf("%s: captured %q, want %q", step.name, got, want)
		}
	}
}

// TestListedAfterARestore: what a restore brings and takes away changes directories.
func TestListedAfterARestore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"d/a": gittest.File("a"), "d/e/c": gittest.File("c"), "k/k": gittest.File("k")})
	needStamps(t, f.root)
	listed := &listings{Handler: slog.DiscardHandler}
	f.opt.Logger = slog.New(listed)
	first := f.listNone(listed)
	f.write("d/e/new", "new")
	f.remove("d/a")
	second := f.listNone(listed)
	for _, hash := range []string{first, second, first} {
		f.restoreAll(hash)
		if got := f.track().Hash; got != hash {
			t.Errorf("tree %s, want %s", got, hash)
		}
		if got := f.listNone(listed); got != hash {
			t.Errorf("later tree %s, want %s", got, hash)
		}
	}
	partial, err := f.repo().Track(t.Context(), cairn.TrackOptions{Paths: []string{"d"}, OnlyPaths: true})
	if err != nil || partial.Extent != cairn.ExtentPaths {
		t.Fatal(partial, err)
	}
	f.write("k/new", "new")
	if got := f.files(f.track().Hash); !slices.Contains(got, "k/new") || listed.last != 4 {
		t.Errorf("after a capture of a part %d directories were listed, captured %q", listed.last, got)
	}
}

// needStamps skips where no directory is sealed.
func needStamps(t *testing.T, root string) {
	t.Helper()
	if strconv.IntSize == 32 {
		t.Skip("directories are always listed on this architecture")
	}
	var st unix.Statfs_t
	if err := unix.Statfs(root, &st); err != nil {
		t.Fatal(err)
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC:
	default:
		t.Skipf("temporary directories lie on a file system (%#x) whose directories are always listed", st.Type)
	}
}

// listNone tracks until everything is old enough for no directory to be listed.
func (f *fixture) listNone(listed *listings) (hash string) { return f.listAtMost(0, listed) }

func (f *fixture) listAtMost(n int64, listed *listings) (hash string) {
	f.Helper()
	for end := time.Now().Add(time.Minute); ; {
		if hash = f.track().Hash; listed.last <= n {
			return hash
		}
		f.closeAll()
		if time.Now().After(end) {
			f.Fatalf("%d directories are listed every time", listed.last)
		}
	}
}

// newListed is a root with thirty directories, of a file f each and another one beside it.
func newListed(t *testing.T, beside string) (*fixture, *listings) {
	t.Helper()
	tree := gittest.Tree{".gitignore": gittest.File("*.o\n")}
	for i := range 30 {
		tree[fmt.Sprintf("d%d/f", i)], tree[fmt.Sprintf("d%d/%s", i, beside)] = gittest.File(fmt.Sprint(i)), gittest.File("g")
	}
	f, listed := newFixture(t, tree), &listings{Handler: slog.DiscardHandler}
	needStamps(t, f.root)
	f.opt.Logger = slog.New(listed)
	return f, listed
}

// TestRemovalListsNothing: in a repository, too, a track after a removal costs no more
// than one after an edit.
func TestRemovalListsNothing(t *testing.T) {
	t.Parallel()
	f, listed := newListed(t, "g")
	o := gittest.NewOracle(t)
	o.Init(f.root)
	o.Commit(f.root, "first")
	f.trackAll()
	f.listAtMost(10, listed)
	for _, path := range []string{"d3/f", "d4"} {
		f.remove(path)
		f.trackAll()
		f.closeAll()
		f.write("d5/f", "edited after "+path)
		if f.trackAll(); listed.last > 15 { // some few are not worth being written down, or have changed just now
			t.Errorf("%d directories are listed after %s was removed", listed.last, path)
		}
		f.listAtMost(10, listed)
	}
}

// TestRestoreListsOnce: where the kernel stamps finely, the directories that a restore has
// changed are listed by it, and by no track after it.
func TestRestoreListsOnce(t *testing.T) {
	t.Parallel()
	f, listed := newListed(t, "g.o") // which is ignored
	probe, err := os.Create(filepath.Join(t.TempDir(), "probe"))
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	if !atomicfile.StampsFinely(probe).Dirs {
		t.Skip("the kernel stamps by the ticks of its clock here")
	}
	const few = 3 // are not worth being written down
	first := f.listAtMost(few, listed)
	for i := range 20 {
		f.write(fmt.Sprintf("d%d/f", i), "edited")
	}
	f.listAtMost(few, listed)
	f.restoreAll(first)
	if listed.last < 20 {
		t.Errorf("the restore lists %d directories", listed.last)
	}
	if got := f.track().Hash; got != first || listed.last > few {
		t.Errorf("the track after it lists %d directories, and finds %s, not %s", listed.last, got, first)
	}
	f.write("d3/new", "new")
	if got := f.files(f.track().Hash); !slices.Contains(got, "d3/new") || listed.last > few+1 {
		t.Errorf("after a new file %d directories were listed, captured %q", listed.last, got)
	}
}

// V21: a pattern with a slash has no other ignored directory looked at.
func TestV21_OnlyWherePatternsLead(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{".gitignore": gittest.File("/*/\n"), "conf/.env": gittest.File("1")}
	for i := range 50 {
		tree[fmt.Sprintf("node_modules/%d/f", i)] = gittest.File("x")
	}
	f := newFixture(t, tree)
	listed := &listings{Handler: slog.DiscardHandler}
	f.opt.Logger, f.opt.Include = slog.New(listed), []string{"conf/.env"}
	if got := f.files(f.track().Hash); !slices.Equal(got, []string{".gitignore", "conf/.env"}) {
		t.Errorf("captured %q", got)
	}
	if listed.last != 2 {
		t.Errorf("%d directories were listed", listed.last)
	}
}
