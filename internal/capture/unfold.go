package capture

import (
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
	objects := odb.OpenObjectDirs(u.repo.ObjectDirs())
	defer objects.Close()
	out, err := leftOut(objects, path, tree, x)
	if err != nil {
		u.warn("a directory of the sparse checkout is not read: what it lacks may count as deleted", "path", path, "error", err)
		return []state.Path{state.Path(path)}
	}
	return out
}

// leftOut goes through the trees of directories that are there.
func leftOut(objects odb.ObjectDirs, path string, tree object.ID, x *index.Index) (out []state.Path, err error) {
	data, err := objects.Read(tree, object.Tree, 0)
	if err != nil {
		return nil, err
	}
	entries, err := object.ParseTree(data)
	if err != nil {
		return nil, err
	}
	d := x.Dirs[path]
	for _, e := range entries {
		at := index.Join(path, e.Name)
		switch {
		case e.Mode == object.Dir && x.Dirs[at] != nil:
			below, err := leftOut(objects, at, e.ID, x)
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
