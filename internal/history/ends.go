package history

import (
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// PathEnd is a file or symlink at one end of a step; entry is nil where there is none.
type PathEnd struct {
	Entry *object.Entry
	Perm  uint16
}

func (a PathEnd) Same(b PathEnd) bool {
	if a.Entry == nil || b.Entry == nil {
		return a.Entry == b.Entry
	}
	return a.Entry.Mode == b.Entry.Mode && a.Entry.ID == b.Entry.ID && (a.Entry.Mode == object.Symlink || a.Perm == b.Perm)
}

// EndOf is the file or symlink of a state at a path.
func (r *Store) EndOf(s state.State, path string) (PathEnd, error) {
	e, err := r.EntryOrNil(s.Tree, path)
	if err != nil || e == nil || e.Mode == object.Dir {
		return PathEnd{}, err
	}
	return PathEnd{e, s.Meta.PermOf(path, e.Mode)}, nil
}

// differingDirs are the directories that hold nothing captured on one side only, or
// whose bits are exceptions on one side and others, or none, on the other. The
// exceptions of files are left out: a file whose bits stay becomes one when the common
// bits change.
func (r *Store) differingDirs(a, b state.State) (map[string]bool, error) {
	dirs := state.DifferingPerms(a.Meta, b.Meta)
	for path := range dirs {
		isFile, err := r.isFile(path, a, b)
		if err != nil {
			return nil, err
		}
		if isFile {
			delete(dirs, path)
		}
	}
	state.Emptied(a.Meta, b.Meta, dirs)
	return dirs, nil
}

// isFile reports whether one of the states has a file at the path, and none a directory
// that holds files.
func (r *Store) isFile(path string, states ...state.State) (isFile bool, err error) {
	for _, s := range states {
		e, err := r.EntryOrNil(s.Tree, path)
		if err != nil {
			return false, err
		}
		if e != nil && e.Mode == object.Dir {
			return false, nil
		}
		isFile = isFile || e != nil
	}
	return isFile, nil
}
