package dir

import (
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Found is the file at a path, or the first parent of the path that is no directory.
type Found struct {
	Path  string // as the disk spells it
	As    string // as the caller spelled it, if that differs; else ""
	Mode  object.Mode
	Perm  uint16
	Stat  index.Stat
	Empty bool // a directory without any name in it
}

// State returns f with the id of its contents.
func (f *Found) State(id object.ID) *State {
	return &State{Mode: f.Mode, Perm: f.Perm, Stat: f.Stat, ID: id}
}

// State is a path as it was seen: an lstat and the id of the contents. The zero Stat means
// that the stat proves nothing, as for a racy entry, and only the contents count.
type State struct {
	Mode object.Mode
	Perm uint16
	Stat index.Stat
	ID   object.ID // zero when unknown
}

// Find returns the file at path, or the first parent of path that is not a directory. It
// returns nil if neither exists. No symlink is followed.
//
// Some file systems resolve readme to README. Find stops at the first name on the way that
// the disk spells differently, even if it is a directory. known reports the paths whose
// spelling needs no check; if known is nil, no spelling is checked.
func Find(root, path string, known func(path string) bool) (*Found, error) {
	var found *Found
	err := Descend(root, path, func(h *Handle, at, name string) (bool, error) {
		st, err := h.Lstat(append([]byte(name), 0)[:len(name)])
		if err != nil {
			if Classify(err) == Gone {
				return false, nil
			}
			return false, err
		}
		spelled := name
		if known != nil && !known(at) {
			spelled = h.spelling(name, st)
		}
		if at != path && st.Mode == object.Dir && spelled == name {
			return true, nil
		}
		found = &Found{Path: at, Mode: st.Mode, Perm: st.Perm, Stat: st.Stat}
		if spelled != name {
			above, _ := index.Split(at)
			found.Path, found.As = index.Join(above, spelled), at
		}
		if st.Mode == object.Dir {
			found.Empty, err = isEmpty(h, name)
		}
		return false, err
	})
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", path, err)
	}
	return found, nil
}

// Descend calls visit for every component of path, with the handle of the directory that
// holds it. It ends when visit returns false or an error.
func Descend(root, path string, visit func(h *Handle, at, name string) (bool, error)) error {
	h, err := Open(root)
	if err != nil {
		return err
	}
	defer func() { h.Close() }()
	at := ""
	for name := range strings.SplitSeq(path, "/") {
		at = index.Join(at, name)
		more, err := visit(h, at, name)
		if err != nil || !more {
			return err
		}
		sub, err := h.OpenDir(name)
		if err != nil {
			return err
		}
		h.Close()
		h = sub
	}
	return nil
}

func isEmpty(h *Handle, name string) (bool, error) {
	names, err := namesIn(h, name)
	return err == nil && len(names) == 0, err
}

// Names lists the names in the directory dir. No symlink on the way is followed.
func Names(root, dir string) (names []string, err error) {
	err = Descend(root, dir, func(h *Handle, at, name string) (bool, error) {
		if at != dir {
			return true, nil
		}
		names, err = namesIn(h, name)
		return false, err
	})
	return names, err
}

func namesIn(h *Handle, name string) ([]string, error) {
	sub, err := h.OpenDir(name)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	var l Listing
	if err := sub.List(&l, make([]byte, 4096)); err != nil {
		return nil, err
	}
	names := make([]string, len(l.Names))
	for i, n := range l.Names {
		names[i] = string(n)
	}
	return names, nil
}
