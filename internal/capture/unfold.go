package capture

import (
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// A sparse index names a directory outside of the sparse checkout by its tree alone. Once such a directory is
// there again, with a file that a program has made, its other files are still left out, and only the tree of the
// user's repository names them.

// unfold lists what the capture in x lacks of a directory that is folded in the user's index: files, and whole
// directories that are absent. A tree that cannot be read, as in a partial clone, leaves the directory as it is.
func (u *userIndex) unfold(path string, tree object.ID, x *index.Index) []state.Path {
	objects := openObjectsOf(u.repo.ObjectDirs())
	defer objects.close()
	out, err := objects.leftOut(path, tree, x)
	if err != nil {
		u.warn("a directory of the sparse checkout is not read: what it lacks may count as deleted", "path", path, "error", err)
		return []state.Path{state.Path(path)}
	}
	return out
}

// openObjects are directories of objects of the user's repository, open for reading.
type openObjects []*odb.DB

func openObjectsOf(dirs []string) (open openObjects) {
	for _, dir := range dirs {
		if db, err := odb.OpenObjects(dir); err == nil {
			open = append(open, db)
		}
	}
	return open
}

func (o openObjects) close() {
	for _, db := range o {
		db.Close()
	}
}

// leftOut goes through the trees of directories that are there.
func (o openObjects) leftOut(path string, tree object.ID, x *index.Index) (out []state.Path, err error) {
	entries, err := o.tree(tree)
	if err != nil {
		return nil, err
	}
	d := x.Dirs[path]
	for _, e := range entries {
		at := index.Join(path, e.Name)
		switch {
		case e.Mode == object.Dir && x.Dirs[at] != nil:
			below, err := o.leftOut(at, e.ID, x)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		case d == nil || !isCaptured(d.Find(e.Name)):
			out = append(out, state.Path(at))
		}
	}
	return out, nil
}

// tree reads a tree from the first directory that has it.
func (o openObjects) tree(id object.ID) ([]object.Entry, error) {
	for _, db := range o {
		kind, data, err := db.Read(id)
		if errors.Is(err, odb.ErrNotFound) {
			continue
		}
		if err == nil && kind != object.Tree {
			err = fmt.Errorf("%s is a %s, not a tree", id, kind)
		}
		if err != nil {
			return nil, err
		}
		return object.ParseTree(data)
	}
	return nil, fmt.Errorf("tree %s: %w", id, odb.ErrNotFound)
}
