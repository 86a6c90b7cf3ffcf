package scan

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// Uncaptured returns a path below the directory folder that the index does not hold as captured and that is
// not in but, "" if there is none. Only an empty result allows the directory's removal. A path that cannot
// be read counts as uncaptured.
func Uncaptured(root, folder string, x *index.Index, but map[string]bool) string {
	var l dir.Listing
	var found string
	_ = dir.Descend(root, folder, func(h *dir.Handle, at, name string) (bool, error) {
		if at != folder {
			return true, nil
		}
		found = uncaptured(h, name, at, x, but, &l)
		return false, nil
	})
	return found
}

func uncaptured(parent *dir.Handle, name, path string, x *index.Index, but map[string]bool, l *dir.Listing) string {
	h, err := parent.OpenDir(name)
	if err != nil {
		return path
	}
	defer h.Close()
	if err := h.List(l, make([]byte, dir.ListBuffer)); err != nil {
		return path
	}
	names := make([]string, len(l.Names))
	for i, n := range l.Names {
		names[i] = string(n)
	}
	d := x.Dirs[path]
	for _, n := range names {
		at := index.Join(path, n)
		if but[at] {
			continue
		}
		if d == nil {
			return at
		}
		rec := d.Find(n)
		switch {
		case rec == nil || rec.Skip() != index.Captured:
			return at
		case rec.Mode() == object.Dir:
			if found := uncaptured(h, n, at, x, but, l); found != "" {
				return found
			}
		}
	}
	return ""
}
