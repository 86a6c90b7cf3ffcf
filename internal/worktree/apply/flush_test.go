package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// The ways to flush, whatever the file system of the tests.
var flushModes = []func(a *Executor){
	func(*Executor) {},
	func(a *Executor) { a.Sync, a.order = true, notOrdered },
	func(a *Executor) { a.Sync, a.order = true, takenForOrdered },
}

func notOrdered(*os.File) (uint64, bool) { return 0, false }

// takenForOrdered says of every file system that it keeps order.
func takenForOrdered(f *os.File) (uint64, bool) {
	fi, err := f.Stat()
	return dir.DeviceOf(fi), err == nil
}

// runFlushed carries out a plan and returns the run.
func runFlushed(t *testing.T, a *Executor, changes []Change) *execution {
	t.Helper()
	top, err := os.OpenRoot(a.Root)
	must(t, err)
	defer top.Close()
	run := newExecution(context.Background(), a, top, changes, nil)
	must(t, run.all())
	for _, out := range run.outcomes {
		must(t, out.Err)
	}
	return run
}

func needOrder(t *testing.T) {
	t.Helper()
	if !awaitsAll() {
		t.Skipf("%s cannot wait for contents alone", runtime.GOOS)
	}
}

// TestApplyFlushesTheLastChange: the common flush is made where the last change was: a rename, a
// removal or a new directory, among few changes or many.
func TestApplyFlushesTheLastChange(t *testing.T) {
	t.Parallel()
	needOrder(t)
	many := func(text string) testTree {
		tree := testTree{}
		for i := range 5 * chunkSize {
			tree[fmt.Sprintf("many/%03d/f", i)] = aFile(text)
		}
		return tree
	}
	for name, tc := range map[string]struct {
		before, after testTree
		want          []string // nil = any, of several workers
	}{
		"contents":      {testTree{"a/f": aFile("1"), "b/f": aFile("1")}, testTree{"a/f": aFile("2"), "b/f": aFile("2")}, []string{"b"}},
		"a link":        {testTree{"a/f": aFile("1"), "b": aFolder()}, testTree{"a/f": aFile("2"), "b/l": aLink("x")}, []string{"b"}},
		"empty file":    {testTree{"a": aFolder()}, testTree{"a/f": aFile("")}, []string{"a"}},
		"removal":       {testTree{"a/f": aFile("1"), "a/g": aFile(""), "b": aFolder()}, testTree{"a/g": aFile(""), "b/f": aFile("2")}, []string{"a"}},
		"new directory": {testTree{"a": aFolder()}, testTree{"a/b/c": aFolder()}, []string{"a/b"}},
		"directory":     {testTree{"a/b": aFolder(), "c/f": aFile("1")}, testTree{"a": aFolder(), "c/f": aFile("2")}, []string{"a"}},
		"one removal":   {testTree{"a/f": aFile("1"), "a/g": aFile("")}, testTree{"a/g": aFile("")}, []string{"a"}},
		"one directory": {testTree{"a": aFolder()}, testTree{"a/b": aFolder()}, []string{"a"}},
		"at the top":    {testTree{"f": aFile("1")}, testTree{"f": aFile("2")}, []string{""}},
		"bits alone":    {testTree{"a/f": aFile("1")}, testTree{"a/f": aFile("1").bits(0o600)}, []string{}},
		"many":          {many("1"), many("2"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			tc.before.build(t, root)
			a, blobs := newExecutor(root)
			a.Sync, a.order = true, takenForOrdered
			run := runFlushed(t, a, plan(t, root, blobs, tc.before, tc.after))
			tc.after.check(t, root)
			got := []string{}
			for _, folders := range run.final {
				for _, at := range folders {
					got = append(got, at.Path)
				}
			}
			if tc.want != nil && !slices.Equal(got, tc.want) || len(got) > maxWorkers {
				t.Errorf("flushed %q for all, want %q", got, tc.want)
			}
		})
	}
}

// TestApplyBitsOfDirectoriesAreFlushedAlone, because they are no names.
func TestApplyBitsOfDirectoriesAreFlushedAlone(t *testing.T) {
	t.Parallel()
	needOrder(t)
	root := t.TempDir()
	before := testTree{"a/b/f": aFile("1"), "a/b": aFolder(), "c/f": aFile("1")}
	after := testTree{"a/b/f": aFile("1"), "a/b": aFolder().bits(0o750), "c/f": aFile("2")}
	before.build(t, root)
	a, blobs := newExecutor(root)
	a.Sync, a.order = true, takenForOrdered
	run := runFlushed(t, a, plan(t, root, blobs, before, after))
	after.check(t, root)
	for path, alone := range map[string]bool{"a": true, "a/b": true, "c": false} {
		if got := run.touched[path]; got == nil || (got.device == flushedAlone) != alone {
			t.Errorf("%s: %+v, want it flushed alone: %t", path, got, alone)
		}
	}
}

// TestApplyResumesFlushingEverything: it is not known what the killed process flushed.
func TestApplyResumesFlushingEverything(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	before, after := testTree{"a/f": aFile("1"), "b/f": aFile("1")}, testTree{"a/f": aFile("2"), "b/f": aFile("2")}
	before.build(t, root)
	a, blobs := newExecutor(root)
	changes := plan(t, root, blobs, before, after)
	applyAll(t, a, changes[:1])
	a.Sync, a.Resume, a.order = true, true, takenForOrdered
	run := runFlushed(t, a, changes)
	after.check(t, root)
	for _, path := range []string{"a", "b"} {
		if got := run.touched[path]; got == nil || got.device != flushedAlone || len(run.final) > 0 {
			t.Errorf("%s: %+v; for all: %v", path, got, run.final)
		}
	}
}

// TestApplyLastFolderMoves: where the directory of the last change is not at its path any
// more, each of the others is flushed, and that is no error.
func TestApplyLastFolderMoves(t *testing.T) {
	t.Parallel()
	for _, replace := range []bool{false, true} {
		for _, flush := range flushModes {
			root := t.TempDir()
			before := testTree{"a/f": aFile("1"), "b/f": aFile("1")}
			before.build(t, root)
			a, blobs := newExecutor(root)
			flush(a)
			changes := plan(t, root, blobs, before, testTree{"a/f": aFile("2"), "b/f": aFile("2")})
			outcomes, err := a.Run(context.Background(), changes, func(done, total int) {
				if done < total {
					return
				}
				must(t, os.Rename(filepath.Join(root, "b"), filepath.Join(root, "moved")))
				if replace {
					must(t, os.Mkdir(filepath.Join(root, "b"), 0o755))
				}
			})
			must(t, err)
			for _, out := range outcomes {
				must(t, out.Err)
			}
			after := testTree{"a/f": aFile("2"), "moved/f": aFile("2")}
			if replace {
				after["b"] = aFolder()
			}
			after.check(t, root)
		}
	}
}

// stagedFiles stages changes of the files a, b and c without placing them.
func stagedFiles(t *testing.T, order func(*os.File) (uint64, bool)) (root string, w *worker) {
	t.Helper()
	root = t.TempDir()
	before := testTree{"a": aFile("old"), "b": aFile("old"), "c": aFile("old"), "d": aFile("old")}
	before.build(t, root)
	a, blobs := newExecutor(root)
	a.Sync, a.order = true, order
	top, err := os.OpenRoot(root)
	must(t, err)
	t.Cleanup(func() { top.Close() })
	w = newExecution(context.Background(), a, top, plan(t, root, blobs, before, testTree{
		"a": aFile("new a"), "b": aFile("new b"), "c": aFile("new c"), "d": aFile("old").bits(0o600),
	}), nil).worker()
	for i := range w.changes {
		w.change(i)
	}
	if len(w.staged) != 4 {
		t.Fatalf("%d changes are staged, want 4", len(w.staged))
	}
	return root, w
}

// TestApplyFlushFails: a file whose contents do not arrive does not get its name, and
// none of a group does whose common flush fails. The bits of d are set by then.
func TestApplyFlushFails(t *testing.T) {
	t.Parallel()
	needOrder(t)
	for _, tc := range []struct {
		order  func(*os.File) (uint64, bool)
		broken int
		failed string
	}{
		{notOrdered, 0, "a"}, {notOrdered, 2, "c"}, {notOrdered, 3, "d"},
		{takenForOrdered, 0, "a"}, {takenForOrdered, 2, "c"}, {takenForOrdered, 3, "abcd"},
	} {
		root, w := stagedFiles(t, tc.order)
		w.staged[tc.broken].file.Close()
		w.place()
		after := testTree{"d": aFile("old").bits(0o600)}
		for i, name := range []string{"a", "b", "c", "d"} {
			failed := strings.Contains(tc.failed, name)
			if out := w.outcomes[i]; failed != (out.Err != nil) || out.Done == failed {
				t.Errorf("%d broken: %s: done %t, %v", tc.broken, name, out.Done, out.Err)
			}
			if name != "d" {
				after[name] = aFile("new " + name)
				if failed {
					after[name] = aFile("old")
				}
			}
		}
		after.check(t, root)
	}
}

// TestApplyStartOfWritingFails: where the system refuses to write contents early, the
// file is flushed as a whole; where that fails as well, it is not placed.
func TestApplyStartOfWritingFails(t *testing.T) {
	t.Parallel()
	needOrder(t)
	r, pipe, err := os.Pipe() // takes writes, but neither way to flush
	must(t, err)
	defer r.Close()
	defer pipe.Close()
	w := newExecution(context.Background(), &Executor{}, nil, nil, nil).worker()
	c := &Change{ID: object.Sum(object.Blob, []byte("x")), Perm: 0o600}
	if _, err := w.fill(pipe, c, nil, strings.NewReader("x"), 1, true); err == nil || strings.Contains(err.Error(), "seek") {
		t.Errorf("filled what cannot be flushed: %v", err)
	}
	if startWriting(pipe) == nil || awaitWritten(pipe) == nil {
		t.Error("a pipe was written to its device")
	}
	pipe.Close()
	if err := awaitWritten(pipe); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a closed file was written to its device: %v", err)
	}
}
