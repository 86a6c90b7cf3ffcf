package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// flushLog tells for every directory what lay in it at the flush that began last: others
// may end after that one.
// Handles know only the last part of their path, so directories go by their inodes.
type flushLog struct {
	dirs  map[uint64]string
	fails func(dir string, isDir bool) error

	begun atomic.Int64

	mu   sync.Mutex
	last map[string]int64             // by directory: which flush seen is of
	seen map[string]map[string]string // by directory: the names in it and their contents
	late []string                     // files that did not lie under their temporary name any more
}

func newFlushLog(t *testing.T, root string) *flushLog {
	t.Helper()
	needFolderFlushes(t)
	l := &flushLog{dirs: map[uint64]string{}, last: map[string]int64{}, seen: map[string]map[string]string{}}
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			l.dirs[dir.InfoOf(info).Stat.Ino] = path
		}
		return err
	}))
	return l
}

func needFolderFlushes(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no way to flush a directory")
	}
}

func (l *flushLog) flush(f *os.File) error {
	nth := l.begun.Add(1)
	info, err := f.Stat()
	if err != nil {
		return err
	}
	dir := l.dirs[dir.InfoOf(info).Stat.Ino]
	if !info.IsDir() {
		dir = l.holder(filepath.Base(f.Name()), info)
	}
	if l.fails != nil {
		if err := l.fails(dir, info.IsDir()); err != nil {
			return err
		}
	}
	held := contentsBelow(dir)
	l.mu.Lock()
	defer l.mu.Unlock()
	if info.IsDir() && nth > l.last[dir] {
		l.last[dir], l.seen[dir] = nth, held
	} else if !info.IsDir() && dir == "" {
		l.late = append(l.late, f.Name())
	}
	return nil
}

// holder is the directory in which a file lies under a name; "" = none.
func (l *flushLog) holder(name string, info fs.FileInfo) string {
	for _, dir := range l.dirs {
		if now, err := os.Lstat(filepath.Join(dir, name)); err == nil && os.SameFile(now, info) {
			return dir
		}
	}
	return ""
}

func contentsBelow(dir string) map[string]string {
	held := map[string]string{}
	names, _ := os.ReadDir(dir)
	for _, n := range names {
		if data, err := os.ReadFile(filepath.Join(dir, n.Name())); err == nil {
			held[n.Name()] = string(data)
		}
	}
	return held
}

// spread is a tree in which workers share directories.
func spread(text string) testTree {
	tree := testTree{}
	for i := range 4 * maxStaged {
		tree[fmt.Sprintf("d%02d/f%d", i%24, i)] = aFile(fmt.Sprint(text, i))
	}
	return tree
}

// TestApplyFlushesBehind: where nothing is known about the file system no file gets its
// name before it is flushed, and each directory is flushed after the last change of its
// names, though workers share directories and go on meanwhile.
func TestApplyFlushesBehind(t *testing.T) {
	t.Parallel()
	for _, resume := range []bool{false, true} {
		root := t.TempDir()
		before, after := spread("one "), spread("two ")
		delete(after, "d01/f1") // goes in a later phase
		before.build(t, root)
		a, blobs := newExecutor(root)
		log := newFlushLog(t, root)
		a.Sync, a.order, a.flush, a.Resume = true, notOrdered, log.flush, resume
		runFlushed(t, a, plan(t, root, blobs, before, after))
		after.check(t, root)
		for _, name := range log.late {
			t.Errorf("%s was flushed when it had its name already", name)
		}
		for path, f := range after {
			dir, name := splitPath(path)
			if got := log.seen[filepath.Join(root, dir)][name]; got != f.Data {
				t.Fatalf("%s was %q at the last flush of its directory, want %q", path, got, f.Data)
			}
		}
		if _, there := log.seen[filepath.Join(root, "d01")]["f1"]; there {
			t.Error("a removal was not flushed")
		}
	}
}

// TestApplyFlushBehindFails: a file that cannot be flushed does not get its name; a
// directory that cannot is an error of the whole, after everything else is done.
func TestApplyFlushBehindFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken device")
	for _, dir := range []bool{false, true} {
		root := t.TempDir()
		before, after := spread("one "), spread("two ")
		before.build(t, root)
		a, blobs := newExecutor(root)
		changes := plan(t, root, blobs, before, after)
		a.Sync, a.order = true, notOrdered
		log := newFlushLog(t, root)
		log.fails = func(path string, isDir bool) error {
			if isDir == dir && path == filepath.Join(root, "d03") {
				return broken
			}
			return nil
		}
		a.flush = log.flush
		outcomes, err := a.Run(context.Background(), changes, nil)
		if dir != errors.Is(err, broken) {
			t.Errorf("directory %t: %v", dir, err)
		}
		for _, out := range outcomes {
			if failed := !dir && strings.HasPrefix(out.Path, "d03/"); failed != errors.Is(out.Err, broken) || out.Done == failed {
				t.Errorf("directory %t: %s: done %t, %v", dir, out.Path, out.Done, out.Err)
			} else if failed {
				after[out.Path] = before[out.Path]
			}
		}
		after.check(t, root)
	}
}

// TestApplyFlushesBothOfMovedFolders: where a directory is exchanged while a file for it is
// staged, the one that got the file is flushed, and in the end what has its path.
func TestApplyFlushesBothOfMovedFolders(t *testing.T) {
	t.Parallel()
	needFolderFlushes(t)
	root := t.TempDir()
	before := testTree{"a/f": aFile("old"), "b/g": aFile("old"), "c/h": aFile("old")}
	before.build(t, root)
	a, blobs := newExecutor(root)
	changes := plan(t, root, blobs, before, testTree{"a/f": aFile("new f"), "b/g": aFile("new g"), "c/h": aFile("new h")})
	var mu sync.Mutex
	flushed := map[uint64]bool{}
	a.Sync, a.order = true, notOrdered
	a.flush = func(f *os.File) error {
		info, err := f.Stat()
		mu.Lock()
		defer mu.Unlock()
		flushed[dir.InfoOf(info).Stat.Ino] = true
		return err
	}
	a.Source = &hookedBlobs{blobs, blobs.put("new g"), func() {
		must(t, os.Rename(filepath.Join(root, "a"), filepath.Join(root, "moved")))
		must(t, os.Mkdir(filepath.Join(root, "a"), 0o755))
	}}
	applyAll(t, a, changes)
	for _, path := range []string{"moved", "b", "c"} {
		info, err := os.Lstat(filepath.Join(root, path))
		must(t, err)
		if info.Mode()&fs.ModeType != fs.ModeDir || !flushed[dir.InfoOf(info).Stat.Ino] {
			t.Errorf("%s was not flushed", path)
		}
	}
}
