package worktree

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Uncaptured returns the path of something below the directory dir that the index
// does not hold as captured, "" when there is nothing of the kind: only then may the
// directory go. Errors count as something that is there.
func Uncaptured(root, dir string, x *index.Index) string {
	var l listing
	var found string
	_ = descendTo(root, dir, func(h *dirHandle, at, name string) (bool, error) {
		if at != dir {
			return true, nil
		}
		found = uncaptured(h, name, at, x, &l)
		return false, nil
	})
	return found
}

func uncaptured(parent *dirHandle, name, path string, x *index.Index, l *listing) string {
	h, err := parent.openDir(name)
	if err != nil {
		return path
	}
	defer h.close()
	if err := h.list(l, make([]byte, direntBuffer)); err != nil {
		return path
	}
	names := make([]string, len(l.names))
	for i, n := range l.names {
		names[i] = string(n)
	}
	d := x.Dirs[path]
	for _, n := range names {
		at := index.Join(path, n)
		if d == nil {
			return at
		}
		rec := d.Find(n)
		switch {
		case rec == nil || rec.Skip() != index.Captured:
			return at
		case rec.Mode() == object.Dir:
			if found := uncaptured(h, n, at, x, l); found != "" {
				return found
			}
		}
	}
	return ""
}
