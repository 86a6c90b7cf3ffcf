package cairn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestWatchingMounts: a file system mounted inside the tree is part of the tree. It comes and goes
// without an event in any directory.
func TestWatchingMounts(t *testing.T) {
	gittest.LongUnlessRace(t)
	if !gittest.Isolated(t) {
		return
	}
	w := newWatcher(t, watchedTree())
	mount := func(dir string) { w.do(unix.Mount("cairn-test", w.path(dir), "tmpfs", 0, "")) }
	bind := func(from, to string) { w.do(unix.Mount(from, w.path(to), "", unix.MS_BIND, "")) }
	unmount := func(dir string) { w.do(unix.Unmount(w.path(dir), unix.MNT_DETACH)) }
	t.Cleanup(func() {
		for _, dir := range []string{"d1/sub2", "d1", "empty", "top", "d3", "d4", "d5", ""} {
			for unix.Unmount(w.path(dir), unix.MNT_DETACH) == nil {
			}
		}
	})

	mount("empty")
	w.same("mounted over an empty directory")
	w.write("empty/x/y", "in it")
	w.same("written in it")
	w.write("empty/x/y", "once more")
	w.same("written in it again")
	unmount("empty")
	w.same("unmounted")

	mount("d1")
	w.same("mounted over a directory that is watched")
	w.write("d1/new", "in it")
	w.do(os.Mkdir(w.path("d1/sub2"), 0o755))
	mount("d1/sub2")
	w.write("d1/sub2/x", "in the one in it")
	w.same("another one in it")
	unmount("d1/sub2")
	unmount("d1")
	w.write("d1/sub/f1", "what was covered is there again")
	w.same("unmounted together")

	mount("d1")
	w.write("d1/a", "the first")
	w.same("the first file system")
	unmount("d1")
	mount("d1")
	w.same("another file system at the same place")
	unmount("d1")
	w.same("none")

	elsewhere := w.outside(gittest.Tree{"x": gittest.File("elsewhere"), "sub/y": gittest.File("y")})
	bind(elsewhere, "d3")
	w.same("a directory from elsewhere")
	w.do(os.WriteFile(filepath.Join(elsewhere, "sub", "y"), []byte("written where it is from"), 0o644))
	w.same("written where it is from")
	unmount("d3")
	w.same("unmounted, and it is still there elsewhere")

	bind(w.path("d5"), "d4")
	w.same("one directory in two places")
	w.write("d4/sub/f1", "written at one place")
	w.same("written at the second place")
	w.write("d5/sub/f2", "written at the other")
	w.same("written at the first place")
	w.write("d5/made/by/z", "made at the other")
	w.same("made at the first place")
	unmount("d4")
	w.same("in one place again")

	bind(filepath.Join(elsewhere, "x"), "top")
	w.same("a file over a file")
	w.write("top", "written through the mount")
	w.same("written through the mount")
	w.do(os.WriteFile(filepath.Join(elsewhere, "x"), []byte("written where it is from, longer"), 0o644))
	w.same("written to a file where it is from")
	unmount("top")
	w.same("the file that was covered")

	mount("")
	w.write("only", "one")
	w.same("over the root")
	unmount("")
	w.same("the root again")

	if s := w.watching.Watching(); !s.On || s.Directories != 44 {
		t.Errorf("in the end %+v", s)
	}
}

// TestWatchingMountsElsewhere: a mount outside the root, as containers make many, costs
// nothing.
func TestWatchingMountsElsewhere(t *testing.T) {
	if !gittest.Isolated(t) {
		return
	}
	w := newWatcher(t, watchedTree())
	dir := w.outside(nil)
	w.do(unix.Mount("cairn-test", dir, "tmpfs", 0, ""))
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	w.same("mounted")
	if n := w.visited.Load(); n != 0 {
		t.Errorf("%d files were looked at", n)
	}
}

// TestWatchingLimit: at the limit of the system a Repo scans, and says so.
func TestWatchingLimit(t *testing.T) {
	if !gittest.Isolated(t) {
		return
	}
	for setting, limit := range map[string]struct{ value, names string }{
		"max_inotify_watches":   {"10", "fs.inotify.max_user_watches"},
		"max_inotify_instances": {"0", "fs.inotify.max_user_instances"},
	} {
		file := filepath.Join("/proc/sys/user", setting)
		before, err := os.ReadFile(file)
		if err != nil {
			t.Skip(err)
		}
		w := &watcher{fixture: newFixture(t, watchedTree())}
		w.apart = w.opt
		w.apart.DataDir = filepath.Join(t.TempDir(), "apart")
		opt := w.opt
		opt.Watch = true
		w.watching, err = cairn.Open(opt)
		w.do(err)
		w.do(os.WriteFile(file, []byte(limit.value), 0))
		w.same(setting)
		w.write("d1/sub/f1", "edited")
		w.same(setting + ", edited")
		if s := w.watching.Watching(); strings.Contains(s.Reason, "cannot be watched") {
			t.Skip("no watching here: ", s.Reason)
		} else if s.On || s.Limit != limit.names || !strings.Contains(s.Reason, limit.names) || s.Directories != 0 {
			t.Errorf("%s: %+v", setting, s)
		}
		w.do(os.WriteFile(file, before, 0), w.watching.Close())
	}
}

// TestWatchingRenames: those that package os has no name for.
func TestWatchingRenames(t *testing.T) {
	t.Parallel()
	runStorms(t, map[string]func(w *watcher){
		"over an empty directory": func(w *watcher) { w.do(unix.Rename(w.path("d1/sub"), w.path("empty"))) },
		"two directories exchanged": func(w *watcher) {
			w.exchanged("d1", "d2/sub")
			w.same("exchanged")
			w.write("d1/f1", "edited")
		},
		"a file and a directory exchanged": func(w *watcher) { w.exchanged("top", "d1") },
		"two files exchanged":              func(w *watcher) { w.exchanged("top", "d1/sub/f1") },
	})
}

func (w *watcher) exchanged(a, b string) {
	w.Helper()
	err := unix.Renameat2(unix.AT_FDCWD, w.path(a), unix.AT_FDCWD, w.path(b), unix.RENAME_EXCHANGE)
	if err == unix.EINVAL {
		w.Skip("this file system exchanges nothing")
	}
	w.do(err)
}

// TestWatchingMemoryMaps: the kernel reports no event for writes through a memory map. A full scan
// sees them by the time stamp, Verify by reading.
func TestWatchingMemoryMaps(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, watchedTree())
	f, err := os.OpenFile(w.path("d1/sub/f1"), os.O_RDWR, 0)
	w.do(err)
	m, err := unix.Mmap(int(f.Fd()), 0, 3, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	w.do(err, f.Close())
	w.same("mapped")
	copy(m, "map")
	w.do(unix.Msync(m, unix.MS_SYNC), unix.Munmap(m))
	w.verified("written")
	w.same("after that")
	w.write("d2/sub/f1", "edited")
	w.same("edited")
}
