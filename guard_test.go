package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
