package scan

import (
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// Hints limit a scan to some paths. A hinted file is scanned; so is a hinted directory, with
// everything in it that the rules do not ignore. The rest of the index stays as it is. A nil *Hints
// sets no limit.
type Hints struct {
	paths map[string]bool
	below map[string][]string // by directory: the names that are hinted or lead to a hinted path, sorted
}

// NewHints takes clean paths from the root, "" for the root itself. The paths in beside are
// scanned, too, but captured only if the rules admit them: the caller has not named them.
func NewHints(paths []string, beside ...string) *Hints {
	h := &Hints{paths: make(map[string]bool), below: make(map[string][]string)}
	for _, path := range paths {
		h.paths[path] = true
		h.leadTo(path)
	}
	for _, path := range beside {
		h.leadTo(path)
	}
	for _, names := range h.below {
		slices.Sort(names)
	}
	return h
}

func (h *Hints) leadTo(path string) {
	for path != "" {
		dir, name := index.Split(path)
		if slices.Contains(h.below[dir], name) {
			return // and so do all directories above it
		}
		h.below[dir] = append(h.below[dir], name)
		path = dir
	}
}

// names reports whether the path itself is hinted.
func (h *Hints) names(path string) bool { return h != nil && h.paths[path] }

// leads reports whether a path below the directory is hinted.
func (h *Hints) leads(dir string) bool { return h != nil && len(h.below[dir]) > 0 }

// visitHinted scans the hinted names of n and keeps the other entries. A name exists only if it is
// listed: on a file system that folds case, an lstat would also find it in another spelling.
func (w *worker) visitHinted(n *node, old []byte) error {
	for _, name := range w.Hints.below[n.path] {
		var rec index.Record
		rec, old = w.copyUpTo(n, old, name)
		if !w.names.Has(name) {
			w.drop(n, rec)
			continue
		}
		if err := w.visit(n, dir.ListedName(name), rec); err != nil {
			return err
		}
	}
	n.block = append(n.block, old...)
	return nil
}

// copyUpTo copies the old entries before name. It returns the entry of name, or nil.
func (w *worker) copyUpTo(n *node, old []byte, name string) (rec index.Record, rest []byte) {
	kept := old
	for len(old) > 0 {
		rec, rest = index.Next(old)
		if order := strings.Compare(string(rec.Name()), name); order >= 0 {
			n.block = append(n.block, kept[:len(kept)-len(old)]...)
			if order == 0 {
				return rec, rest
			}
			return nil, old
		}
		old = rest
	}
	n.block = append(n.block, kept...)
	return nil, nil
}
