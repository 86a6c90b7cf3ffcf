package dir

import (
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Found is what stands at a path, or in the way to it.
type Found struct {
	Path  string // the path asked for, or the parent of it that is no directory, as the disk spells it
	As    string // the same as it was asked for, where that is spelled another way; else ""
	Mode  object.Mode
	Perm  uint16
	Stat  index.Stat
	Empty bool // a directory without any name in it
}

// State returns what an Apply must find there.
func (f *Found) State(id object.ID) *State {
	return &State{Mode: f.Mode, Perm: f.Perm, Stat: f.Stat, ID: id}
}

// State is what the maker of a plan saw at a path. Its contents stand for it when
// only the Stat differs, provided that ID is known. The zero Stat asks for that
// comparison in any case, as one must where a stat is racy. Of a directory only the
// inode and, for a Chmod, the bits are compared. Sockets, FIFOs and devices (Mode 0)
// match nothing: they are never replaced or removed.
type State struct {
	Mode object.Mode
	Perm uint16
	Stat index.Stat
	ID   object.ID // zero when unknown
}

// Find finds what stands at a path, or else the first parent that is not a
// directory; nil when nothing stands in the way. No symlink is followed.
//
// Some file systems find README by the name of readme. The first name on the way that the
// disk spells differently is found, too, be it a directory; known says which paths are
// spelled so. If it is nil, any spelling will do.
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

// Descend calls visit for every component of path with the handle of the
// directory that holds it, as long as visit says to go on.
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

// Names lists what is in the directory dir, which no symlink leads to.
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
