package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// testTree is a literal tree: the state of the disk before or after a test.
type testTree map[string]testNode

type testNode struct {
	Mode object.Mode
	Perm uint16
	Data string // contents, or the text of a link
}

func aFile(data string) testNode { return testNode{object.Regular, 0o644, data} }
func aLink(text string) testNode { return testNode{object.Symlink, 0, text} }
func aFolder() testNode          { return testNode{object.Dir, 0o755, ""} }

func (n testNode) bits(perm uint16) testNode {
	n.Perm = perm
	if n.Mode.IsFile() && perm&0o100 != 0 {
		n.Mode = object.Executable
	}
	return n
}

// full adds the directories that the paths of a tree imply.
func (tree testTree) full() testTree {
	all := testTree{}
	for path, n := range tree {
		all[path] = n
		for up := parentPath(path); up != ""; up = parentPath(up) {
			if _, ok := tree[up]; !ok {
				all[up] = aFolder()
			}
		}
	}
	return all
}

// kept is what the system keeps of a tree: Windows knows of files no more than whether
// they may be written to.
func (tree testTree) kept() testTree {
	if runtime.GOOS != "windows" {
		return tree
	}
	for path, n := range tree {
		switch {
		case n.Mode == object.Dir:
			n.Perm = 0o755
		case n.Mode.IsFile():
			n.Mode, n.Perm = object.Regular, 0o444|n.Perm&0o200
		}
		tree[path] = n
	}
	return tree
}

func (tree testTree) paths() []string {
	var paths []string
	for path := range tree {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, comparePaths)
	return paths
}

// tempRoot is a temporary directory whose contents may be closed to their owner.
func tempRoot(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	t.Cleanup(func() {
		must(t, filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			return os.Chmod(at, 0o700)
		}))
	})
	return root
}

// build makes the tree below root, which exists.
func (tree testTree) build(t testing.TB, root string) {
	t.Helper()
	all := tree.full()
	paths := all.paths()
	for _, path := range paths {
		n, at := all[path], filepath.Join(root, path)
		switch n.Mode {
		case object.Dir:
			must(t, os.Mkdir(at, 0o755))
		case object.Symlink:
			if err := gittest.Symlink(n.Data, at); errors.Is(err, gittest.ErrNoLinks) {
				t.Skip(err)
			} else {
				must(t, err)
			}
		default:
			must(t, os.WriteFile(at, []byte(n.Data), 0o644))
			must(t, os.Chmod(at, permMode(n.Perm)))
		}
	}
	slices.Reverse(paths)
	for _, path := range paths {
		if all[path].Mode == object.Dir {
			must(t, os.Chmod(filepath.Join(root, path), permMode(all[path].Perm)))
		}
	}
}

// readTree reads the tree below root.
func readTree(t testing.TB, root string) testTree {
	t.Helper()
	tree := testTree{}
	must(t, filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == root {
			return err
		}
		fi, err := os.Lstat(at)
		if err != nil {
			return err
		}
		look := dir.InfoOf(fi)
		n := testNode{Mode: look.Mode, Perm: look.Perm}
		switch look.Mode {
		case object.Regular, object.Executable:
			data, err := os.ReadFile(at)
			must(t, err)
			n.Data = string(data)
		case object.Symlink:
			n.Perm = 0
			n.Data, err = os.Readlink(at)
			must(t, err)
		}
		path, err := filepath.Rel(root, at)
		tree[filepath.ToSlash(path)] = n
		return err
	}))
	return tree
}

func (tree testTree) check(t testing.TB, root string) {
	t.Helper()
	if diff := cmp.Diff(tree.full().kept(), readTree(t, root)); diff != "" {
		t.Errorf("tree below the root (-want +got):\n%s", diff)
	}
}

// memorySource is a Source in memory. What the test puts under an id need not have it.
type memorySource struct {
	mu   sync.Mutex
	data map[object.ID]string
	tail map[object.ID]error // what a reader ends with instead of io.EOF
}

func (b *memorySource) put(data string) object.ID {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := object.Sum(object.Blob, []byte(data))
	if b.data == nil {
		b.data, b.tail = map[object.ID]string{}, map[object.ID]error{}
	}
	b.data[id] = data
	return id
}

var errNoBlob = errors.New("no such blob")

func (b *memorySource) Open(id object.ID) (int64, io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.data[id]
	if !ok {
		return 0, nil, fmt.Errorf("%s: %w", id, errNoBlob)
	}
	var r io.Reader = strings.NewReader(data)
	if err := b.tail[id]; err != nil {
		r = io.MultiReader(r, failingReader{err})
	}
	return int64(len(data)), io.NopCloser(r), nil
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// expect is what a scan would see at the path now; nil when there is nothing.
func expect(t testing.TB, root, path string) *dir.State {
	t.Helper()
	at := filepath.Join(root, path)
	fi, err := os.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	must(t, err)
	look := dir.InfoOf(fi)
	e := &dir.State{Mode: look.Mode, Perm: look.Perm, Stat: look.Stat}
	switch {
	case look.Mode.IsFile():
		data, err := os.ReadFile(at)
		must(t, err)
		e.ID = object.Sum(object.Blob, data)
	case look.Mode == object.Symlink:
		text, err := os.Readlink(at)
		must(t, err)
		e.ID = object.Sum(object.Blob, []byte(text))
	}
	return e
}

// plan is what leads from the tree on disk, which is from, to the other, in the
// order of the paths: that of carrying it out is the business of Apply.
func plan(t testing.TB, root string, blobs *memorySource, from, to testTree) []Change {
	t.Helper()
	from, to = from.full(), to.full()
	var changes []Change
	for _, path := range from.paths() {
		old, next := from[path], to[path]
		if gone := next == (testNode{}); gone || (old.Mode == object.Dir) != (next.Mode == object.Dir) {
			action := Delete
			if old.Mode == object.Dir {
				action = Rmdir
			}
			changes = append(changes, Change{Path: path, Action: action, Was: expect(t, root, path)})
		}
	}
	for _, path := range to.paths() {
		old, next := from[path], to[path]
		c := Change{Path: path, Mode: next.Mode, Perm: next.Perm}
		if next.Mode != object.Dir {
			c.ID = blobs.put(next.Data)
		}
		same := (old.Mode == object.Dir) == (next.Mode == object.Dir) && old != testNode{}
		switch {
		case old == next:
			continue
		case same && old.Data == next.Data && kindOf(old.Mode) == kindOf(next.Mode):
			c.Action = Chmod
		case next.Mode == object.Dir:
			c.Action = Mkdir
		case same:
			c.Action = Modify
		default:
			c.Action = Create
		}
		if same {
			c.Was = expect(t, root, path)
		}
		changes = append(changes, c)
	}
	return changes
}

// applyAll applies and fails the test unless every change was done.
func applyAll(t testing.TB, a *Executor, changes []Change) []Outcome {
	t.Helper()
	outcomes, err := a.Run(context.Background(), changes, nil)
	must(t, err)
	for i, out := range outcomes {
		if out.Path != changes[i].Path || out.Action != changes[i].Action {
			t.Errorf("outcome %d is that of %s %q, want %s %q", i, out.Action, out.Path, changes[i].Action, changes[i].Path)
		}
		if !out.Done || out.Err != nil {
			t.Errorf("%s %q: done %t, error %v", out.Action, out.Path, out.Done, out.Err)
		}
	}
	return outcomes
}

// applyOne applies a single change and returns its outcome.
func applyOne(t testing.TB, a *Executor, c Change) Outcome {
	t.Helper()
	outcomes, err := a.Run(context.Background(), []Change{c}, nil)
	must(t, err)
	return outcomes[0]
}

// wantKept fails the test unless the change was refused for this reason.
func wantKept(t testing.TB, out Outcome, reason error) {
	t.Helper()
	if out.Done || !errors.Is(out.Err, reason) {
		t.Errorf("%s %q: done %t, error %v, want %v", out.Action, out.Path, out.Done, out.Err, reason)
	}
	var pe *fs.PathError
	if out.Err != nil && (!errors.As(out.Err, &pe) || pe.Path != out.Path) {
		t.Errorf("%s %q: error %v does not name the path", out.Action, out.Path, out.Err)
	}
	if out.Entry.Name != "" {
		t.Errorf("%s %q: entry %v for a path that was not written", out.Action, out.Path, out.Entry)
	}
}

func newExecutor(root string) (*Executor, *memorySource) {
	blobs := &memorySource{}
	return &Executor{Root: root, Source: blobs, Token: "t0"}, blobs
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
