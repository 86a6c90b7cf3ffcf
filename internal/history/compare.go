package history

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// TreeChange is a path whose entry differs between two trees. The entries are never directories. A
// nil side means that the path is absent there.
type TreeChange struct {
	Path     string
	Old, New *object.Entry
}

// ReadTree returns the entries of a tree, none for the zero id and the empty tree. The caller must
// not change them.
func (r *Store) ReadTree(id object.ID) ([]object.Entry, error) {
	if id.IsZero() || id == object.EmptyTree {
		return nil, nil
	}
	if entries, ok := r.Trees.Get(id); ok {
		return entries, nil
	}
	kind, data, err := r.DB.Read(id)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", id, err)
	}
	if kind != object.Tree {
		return nil, fmt.Errorf("%w: %s is a %s, not a tree", state.ErrCorrupt, id, kind)
	}
	entries, err := object.ParseTree(data)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w: %w", id, state.ErrCorrupt, err)
	}
	r.Trees.add(id, entries)
	return entries, nil
}

// CompareTrees yields the differences between two trees, ordered by the bytes of the paths. Equal
// sub-trees are not read, so the cost follows the number of differences.
func (r *Store) CompareTrees(ctx context.Context, old, new object.ID, scope *state.PathScope) iter.Seq2[TreeChange, error] {
	return (&Comparison{Repo: r, Ctx: ctx, Scope: scope}).Between(old, new)
}

// Comparison compares two trees.
type Comparison struct {
	Repo  *Store
	Ctx   context.Context
	Scope *state.PathScope

	// Known and Dirs may be nil. Known returns the entries of a tree that the caller has in memory,
	// else nil. Dirs is called for each directory in a pair of trees that differ.
	Known func(dir string, tree object.ID) []object.Entry
	Dirs  func(path string, old, new *object.Entry)

	yield   func(TreeChange, error) bool
	stopped bool
}

// Between yields the differences between two trees, ordered by the bytes of the paths.
func (c *Comparison) Between(old, new object.ID) iter.Seq2[TreeChange, error] {
	return func(yield func(TreeChange, error) bool) {
		c.yield, c.stopped = yield, false
		if err := c.trees("", old, new); err != nil && !c.stopped {
			yield(TreeChange{}, err)
		}
	}
}

func (c *Comparison) trees(dir string, old, new object.ID) error {
	if old == new || c.stopped {
		return nil
	}
	if err := c.Ctx.Err(); err != nil {
		return err
	}
	a, b, err := c.both(dir, old, new)
	if err != nil {
		return err
	}
	for (len(a) > 0 || len(b) > 0) && !c.stopped {
		var left, right *object.Entry
		order := 0
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = object.CompareEntries(a[0], b[0])
		}
		if order <= 0 {
			left, a = &a[0], a[1:]
		}
		if order >= 0 {
			right, b = &b[0], b[1:]
		}
		if err := c.entry(dir, left, right); err != nil {
			return err
		}
	}
	return nil
}

// both reads two trees, at the same time if neither can be in memory.
func (c *Comparison) both(dir string, old, new object.ID) (a, b []object.Entry, err error) {
	if old.IsZero() || new.IsZero() || c.Known != nil {
		if a, err = c.tree(dir, old); err == nil {
			b, err = c.tree(dir, new)
		}
		return a, b, err
	}
	var other error
	done := make(chan struct{})
	go func() {
		defer close(done)
		b, other = c.Repo.ReadTree(new)
	}()
	a, err = c.Repo.ReadTree(old)
	<-done
	return a, b, cmp.Or(err, other)
}

func (c *Comparison) tree(dir string, id object.ID) ([]object.Entry, error) {
	if c.Known != nil {
		if entries := c.Known(dir, id); entries != nil {
			return entries, nil
		}
	}
	return c.Repo.ReadTree(id)
}

// entry compares one name. A file and a directory of the same name come in two calls, because they
// sort differently.
func (c *Comparison) entry(dir string, old, new *object.Entry) error {
	some := old
	if some == nil {
		some = new
	}
	path := index.Join(dir, some.Name)
	if some.Mode == object.Dir {
		if !c.Scope.Leads(path) {
			return nil
		}
		if c.Dirs != nil {
			c.Dirs(path, old, new)
		}
		return c.trees(path, treeID(old), treeID(new))
	}
	if old != nil && new != nil && *old == *new || !c.Scope.Covers(path) {
		return nil
	}
	if !c.yield(TreeChange{path, old, new}, nil) {
		c.stopped = true
	}
	return nil
}

func treeID(e *object.Entry) object.ID {
	if e == nil {
		return object.ID{}
	}
	return e.ID
}

// TreeEntry finds a path in a tree. "" is the root, a directory entry without a name.
func (r *Store) TreeEntry(tree object.ID, path string) (object.Entry, error) {
	e := object.Entry{Mode: object.Dir, ID: tree}
	if path == "" {
		return e, nil
	}
	for name := range strings.SplitSeq(path, "/") {
		if e.Mode != object.Dir {
			return object.Entry{}, state.NotFound("path %s", path)
		}
		entries, err := r.ReadTree(e.ID)
		if err != nil {
			return object.Entry{}, err
		}
		found := findEntry(entries, name)
		if found == nil {
			return object.Entry{}, state.NotFound("path %s", path)
		}
		e = *found
	}
	return e, nil
}

// findEntry finds a name in a tree. Git sorts a directory's name as if it ended in '/', so a name
// can be in two places.
func findEntry(entries []object.Entry, name string) *object.Entry {
	for _, mode := range []object.Mode{object.Regular, object.Dir} {
		i, found := slices.BinarySearchFunc(entries, object.Entry{Name: name, Mode: mode}, object.CompareEntries)
		if found {
			return &entries[i]
		}
	}
	return nil
}

// WalkTree yields the files and symlinks of a tree, ordered by the bytes of their paths. It reads
// only trees that lead to paths of the scope.
func (r *Store) WalkTree(ctx context.Context, tree object.ID, scope *state.PathScope) iter.Seq2[TreeChange, error] {
	return r.CompareTrees(ctx, object.EmptyTree, tree, scope)
}
