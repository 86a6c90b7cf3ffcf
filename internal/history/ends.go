package history

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// PathEnd is a file or symlink at one end of a step. Entry is nil where it is absent.
type PathEnd struct {
	Entry *object.Entry
	Perm  uint16
}

// Same reports whether two ends have the same content, mode and permission bits. The bits of
// symlinks do not count.
func (a PathEnd) Same(b PathEnd) bool {
	if a.Entry == nil || b.Entry == nil {
		return a.Entry == b.Entry
	}
	return a.Entry.Mode == b.Entry.Mode && a.Entry.ID == b.Entry.ID && (a.Entry.Mode == object.Symlink || a.Perm == b.Perm)
}

// EndOf returns the file or symlink of a state at a path.
func (r *Store) EndOf(s state.State, path string) (PathEnd, error) {
	e, err := r.EntryOrNil(s.Tree, path)
	if err != nil || e == nil || e.Mode == object.Dir {
		return PathEnd{}, err
	}
	return EndWith(s, path, e), nil
}

// EndWith adds the permission bits of a state to the entry of its tree at a path.
func EndWith(s state.State, path string, e *object.Entry) PathEnd {
	if e == nil {
		return PathEnd{}
	}
	return PathEnd{e, s.Meta.PermOf(path, e.Mode)}
}

// differingDirs returns the directories that hold nothing captured on exactly one side, or whose
// exceptions from the common permission bits differ. Exceptions of files are left out: a file whose
// bits stay the same becomes an exception when the common bits change.
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

// isFile reports whether one of the states has a file at the path and none has a directory with
// captured files there.
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

// DiskState is the disk as a capture found it.
type DiskState struct {
	state.State
	Index   *index.Index
	Entries func(dir string, tree object.ID) []object.Entry // entries of a tree that the capture has in memory, else nil
}
