package history

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// PathFinder finds the entry of one path in many trees. Neighbouring states share most trees, so it
// keeps what it found below each tree on the way and reads a tree once. It does not parse whole
// trees. It is not for several goroutines.
type PathFinder struct {
	repo  *Store
	names []string
	known []map[object.ID]object.Entry // by depth: the entry of names[depth] in a tree, a zero Mode if it has none
}

// NewPathFinder returns a PathFinder. The path is not "".
func (r *Store) NewPathFinder(path string) *PathFinder {
	f := &PathFinder{repo: r, names: strings.Split(path, "/")}
	f.known = make([]map[object.ID]object.Entry, len(f.names))
	for i := range f.known {
		f.known[i] = make(map[object.ID]object.Entry)
	}
	return f
}

// path returns the path that is looked for.
func (f *PathFinder) path() string { return strings.Join(f.names, "/") }

// In returns the entry of the path in a tree, with a zero Mode if there is none.
func (f *PathFinder) In(tree object.ID) (object.Entry, error) {
	e := object.Entry{Mode: object.Dir, ID: tree}
	for depth, name := range f.names {
		if e.Mode != object.Dir || e.ID == object.EmptyTree {
			return object.Entry{}, nil
		}
		next, ok := f.known[depth][e.ID]
		if !ok {
			var err error
			if next, err = f.repo.nameIn(e.ID, name); err != nil {
				return object.Entry{}, err
			}
			f.known[depth][e.ID] = next
		}
		e = next
	}
	return e, nil
}

// nameIn finds a name in a tree without parsing the other entries.
func (r *Store) nameIn(tree object.ID, name string) (object.Entry, error) {
	kind, data, err := r.DB.Read(tree)
	if err != nil {
		return object.Entry{}, fmt.Errorf("tree %s: %w", tree, err)
	}
	if kind != object.Tree {
		return object.Entry{}, fmt.Errorf("%w: %s is a %s, not a tree", state.ErrCorrupt, tree, kind)
	}
	for len(data) > 0 {
		end := bytes.IndexByte(data, 0)
		size := end + 1 + len(object.ID{})
		if end < 0 || len(data) < size {
			return object.Entry{}, fmt.Errorf("tree %s: %w", tree, state.ErrCorrupt)
		}
		mode, is, _ := bytes.Cut(data[:end], []byte{' '})
		if string(is) == name {
			return parsedEntry(tree, mode, name, data[end+1:size])
		}
		data = data[size:]
	}
	return object.Entry{}, nil
}

func parsedEntry(tree object.ID, mode []byte, name string, id []byte) (object.Entry, error) {
	parsed, err := parseMode(string(mode))
	if err != nil {
		return object.Entry{}, fmt.Errorf("tree %s: %w: %w", tree, state.ErrCorrupt, err)
	}
	return object.Entry{Mode: object.Mode(parsed), Name: name, ID: object.ID(id)}, nil
}
