package history

import (
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// DirLookup tells whether a state has a directory. A tree holds no directory without captured
// files, and the lists of those directories are not sorted for searching. DirLookup builds sets of
// them once, for many look-ups.
type DirLookup struct {
	repo *Store
	state.State
	Empty, bare map[string]bool
}

// DirEnd is a directory at one end of a step.
type DirEnd struct {
	There, Bare bool
	Perm        uint16
}

// LookupDirs returns the DirLookup of a state.
func (r *Store) LookupDirs(s state.State) *DirLookup {
	return &DirLookup{r, s, PathSet(s.Meta.Empty), PathSet(s.Meta.Bare)}
}

// PathSet returns the paths of a list as a set.
func PathSet(list []state.Path) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, path := range list {
		set[string(path)] = true
	}
	return set
}

// Lists reports whether a path is among the directories that no tree holds.
func (l *DirLookup) Lists(path string) bool { return l.Empty[path] || l.bare[path] }

// At returns the directory at a path.
func (l *DirLookup) At(path string) (DirEnd, error) {
	e, err := l.repo.EntryOrNil(l.Tree, path)
	if err != nil {
		return DirEnd{}, err
	}
	there := l.Lists(path) || e != nil && e.Mode == object.Dir
	return DirEnd{there, l.bare[path], l.Meta.PermOf(path, object.Dir)}, nil
}

// Holds reports whether anything is at a path: a file, a symlink or a directory.
func (l *DirLookup) Holds(path string) (bool, error) {
	e, err := l.repo.EntryOrNil(l.Tree, path)
	return e != nil || l.Lists(path), err
}
