package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func (f *fixture) refusesToTrack(want error, texts ...string) {
	f.Helper()
	r, err := cairn.Open(f.opt)
	if err == nil {
		_, err = r.Track(background, cairn.TrackOptions{})
		r.Close()
	}
	assertError(f.T, err, want)
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			f.Errorf("error %v does not say %q", err, text)
		}
	}
}

func (f *fixture) nothingWritten() {
	f.Helper()
	if _, err := os.Lstat(f.data); !os.IsNotExist(err) {
		f.Errorf("the data directory was made: %v", err)
	}
}

// TestR60_HomesAreRefused: before anything is written, unless it is forced, and then for
// good.
func TestR60_HomesAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"users/me/project/a": gittest.File("a")})
	base := mustEval(t, f.root)
	f.opt.Homes = []string{filepath.Join(base, "users", "*")}
	for _, root := range []string{"users/me", "users", "."} {
		f.opt.Root = f.path(root)
		f.refusesToTrack(cairn.ErrRoot, "home director", "force it")
	}
	f.opt.Homes, f.opt.Home = nil, f.path("users/me")
	f.refusesToTrack(cairn.ErrRoot)
	f.opt.Root = filepath.VolumeName(base) + string(filepath.Separator)
	f.refusesToTrack(cairn.ErrRoot, "a whole file system")
	f.nothingWritten()
	f.opt.Root = f.path("users/me/project")
	f.trackAll()
	f.opt.Root, f.opt.Force = f.path("users/me"), true
	f.trackAll()
	f.opt.Force = false
	f.trackAll()
}

// TestR60_DataDirectoryInside: a root that holds the stores is fine, they are left out.
func TestR60_DataDirectoryInside(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	want := f.trackAll()
	f.opt.DataDir = f.path(".cairn")
	if got := f.trackAll(); got != want {
		t.Errorf("tracked %s, want %s", got, want)
	}
	f.opt.Root = f.opt.DataDir
	f.refusesToTrack(cairn.ErrRoot)
}

// TestR79_TooManyFiles: counted before anything is written, with the place to look at.
func TestR79_TooManyFiles(t *testing.T) {
	t.Parallel()
	tree := manyDirs(5)
	for i := range 60 {
		tree[fmt.Sprintf("data/images/%02d", i)] = gittest.File("i")
	}
	tree["ignored/.gitignore"] = gittest.File("*\n")
	for i := range 60 {
		tree[fmt.Sprintf("ignored/%02d", i)] = gittest.File("i")
	}
	f := newFixture(t, tree)
	f.opt.MaxFiles = 50
	f.refusesToTrack(cairn.ErrTooLarge, "more than 50 files", "/data/images/ in .gitignore", "force")
	f.nothingWritten()
	f.opt.MaxFiles = 81
	f.trackAll()
	f.write("more", "m")
	f.refusesToTrack(cairn.ErrTooLarge)
	f.opt.MaxFiles = 82
	f.trackAll()
	f.opt.MaxFiles, f.opt.Force = 10, true
	f.trackAll()
	f.opt.Force, f.opt.MaxFiles = false, cairn.NoLimit
	f.trackAll()
}

// TestR79_TooMuchData: only what would have to be read counts.
func TestR79_TooMuchData(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(strings.Repeat("a", 600)), "big/b": gittest.File(strings.Repeat("b", 5000)), "big/c": gittest.File("c")})
	f.opt.MaxScanBytes = 5000
	f.refusesToTrack(cairn.ErrTooLarge, "more than 4.9 KiB of new data", "big (")
	f.nothingWritten()
	f.opt.MaxScanBytes = 6000
	f.trackAll()
	f.settle()
	f.trackAll()
	f.opt.MaxScanBytes = 2000
	f.write("new", strings.Repeat("n", 1500))
	f.trackAll()
	f.write("new2", strings.Repeat("n", 2500))
	checkpoints := len(f.log())
	f.refusesToTrack(cairn.ErrTooLarge)
	if now := len(f.log()); now != checkpoints {
		t.Errorf("%d checkpoints, were %d", now, checkpoints)
	}
	gittest.NewOracle(t).Fsck(f.repo().StoreDir())
}

func (f *fixture) log() (list []*cairn.Checkpoint) {
	f.Helper()
	for c, err := range f.repo().Checkpoints(background) {
		if err != nil {
			f.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// TestR79_RefusedStore: the store that was made for a capture that is refused goes with
// the Repo, but not if something has been stored meanwhile, by it or by others, and no
// directory goes that was there before.
func TestR79_RefusedStore(t *testing.T) {
	t.Parallel()
	open := func(f *fixture, limit int) *cairn.Repo {
		f.Helper()
		opt := f.opt
		opt.MaxFiles = limit
		r, err := cairn.Open(opt)
		if err != nil {
			f.Fatal(err)
		}
		return r
	}
	refused := func(f *fixture, r *cairn.Repo) {
		f.Helper()
		_, err := r.Track(background, cairn.TrackOptions{})
		assertError(f.T, err, cairn.ErrTooLarge)
	}
	tracked := func(f *fixture, r *cairn.Repo) {
		f.Helper()
		if _, err := r.Track(background, cairn.TrackOptions{}); err != nil {
			f.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		course func(f *fixture)
		stays  bool // the store
	}{
		"nothing stored": {func(f *fixture) {
			r := open(f, 2)
			refused(f, r)
			r.Close()
		}, false},
		"small enough after all": {func(f *fixture) {
			r := open(f, 2)
			refused(f, r)
			f.remove("c")
			tracked(f, r)
			r.Close()
		}, true},
		"stored by another": {func(f *fixture) {
			r, other := open(f, 2), open(f, 3)
			refused(f, r)
			tracked(f, other)
			r.Close()
			other.Close()
		}, true},
		"another came later": {func(f *fixture) {
			r, other := open(f, 2), open(f, 2)
			refused(f, r)
			refused(f, other)
			other.Close()
			r.Close()
		}, false},
		"left behind by a crash": {func(f *fixture) {
			refused(f, open(f, 2))
			r := open(f, 2)
			refused(f, r)
			r.Close()
			r = open(f, 3)
			tracked(f, r)
			r.Close()
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("a"), "b": gittest.File("b"), "c": gittest.File("c")})
			if err := os.MkdirAll(f.data, 0o700); err != nil {
				t.Fatal(err)
			}
			test.course(f)
			_, err := os.Lstat(cairn.StorePath(f.opt.DataDir, mustEval(t, f.root)))
			if there := err == nil; there != test.stays {
				t.Errorf("the store is there: %v", there)
			}
			if names, err := os.ReadDir(f.data); err != nil || !test.stays && len(names) > 0 {
				t.Errorf("in the data directory: %v, %v", names, err)
			}
		})
	}
}

// TestR79_RefusedBeforeItIsRead: a first capture counts before it reads much.
func TestR79_RefusedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	tree := manyDirs(700)
	f := newFixture(t, tree)
	f.opt.MaxFiles = 2500
	var most atomic.Int64
	f.opt.Progress = func(p cairn.Progress) { most.Store(max(most.Load(), int64(p.Files))) }
	f.refusesToTrack(cairn.ErrTooLarge, "more than 2500 files")
	f.nothingWritten()
	if n := most.Load(); n > 2000 {
		t.Errorf("%d files were read before it was refused", n)
	}
}
