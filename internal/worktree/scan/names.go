package scan

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// narrowed returns the only names to scan in n, nil for all.
func (w *worker) narrowed(n *node) []string {
	if w.Names == nil || n.prev == nil || len(n.prev.Raw) == 0 {
		return nil
	}
	return w.Names[n.path]
}

// leaveUnlisted skips the listing of n, whose cost grows with the directory. All names to scan are
// known: on a file system that folds case, an unknown name may be another spelling of a known one,
// and exists only if it is listed.
func (w *worker) leaveUnlisted(n *node) {
	w.names.Reset()
	n.gitignore = true // possibly: loadRules tries to read it
}

// knownNames reports whether a block has all of the names, which are in the order of the block.
func knownNames(block []byte, names []string) bool {
	for range unknownNames(block, names) {
		return false
	}
	return true
}

// unknownNames yields the names without an entry in the block. The names are in the order of the
// block.
func unknownNames[N string | []byte](block []byte, names []N) iter.Seq[N] {
	return func(yield func(N) bool) {
		rec, rest := index.Next(block)
		for _, name := range names {
			for rec != nil && string(rec.Name()) < string(name) {
				rec, rest = index.Next(rest)
			}
			if (rec == nil || string(rec.Name()) != string(name)) && !yield(name) {
				return
			}
		}
	}
}

// addSpellings adds the names in the block that differ only in case from one that is not in it. On a
// file system that folds case, a change is reported by the spelling that a process used.
func addSpellings(block []byte, names []string) []string {
	others := make(map[string]bool)
	for name := range unknownNames(block, names) {
		others[string(folded(name))] = true
	}
	all := names[:len(names):len(names)]
	for rec, rest := index.Next(block); rec != nil && len(others) > 0; rec, rest = index.Next(rest) {
		if others[string(folded(rec.Name()))] {
			all = append(all, string(rec.Name()))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func folded[N string | []byte](name N) []byte { return bytes.ToLower([]byte(name)) }

// visitNames scans some names of n and keeps the other entries.
func (w *worker) visitNames(n *node, old []byte) error {
	n.block = slices.Grow(n.block, len(old)) // usually the new block is as long
	names := n.names
	if n.listed {
		names = addSpellings(old, names)
	}
	for _, name := range names {
		var rec index.Record
		rec, old = w.copyUpTo(n, old, name)
		if n.listed && !w.names.Has(name) {
			w.drop(n, rec)
			continue
		}
		if err := w.visit(n, dir.ListedName(name), rec); err != nil {
			return err
		}
	}
	n.block = append(n.block, old...)
	if n.listed && w.finely(n) {
		n.leaky = n.leaky || !w.accounted(n)
	}
	return w.listIfEmpty(n)
}

// accounted reports whether every listed name has an entry in n or is one that the rules pass over.
// Names that another process has just made are left to the next scan.
func (w *worker) accounted(n *node) bool {
	for name := range unknownNames(n.block, w.names.Names) {
		if string(name) != ".git" && !isTemp(name) && !w.passedOver(n, name) {
			return false
		}
	}
	return true
}

// passedOver reports whether the rules alone keep a listed name out of the capture.
func (w *worker) passedOver(n *node, name []byte) bool {
	path, k := index.Join(n.path, string(name)), dir.KindOf(name)
	return k != dir.KindUnknown && !w.excluded(path) && !w.visible(n, path, k == dir.KindDir)
}

// listIfEmpty lists a directory that has lost its last entry, to find out whether it is empty. A
// directory that is gone had no names.
func (w *worker) listIfEmpty(n *node) error {
	if len(n.entries()) > 0 || n.listed {
		return nil
	}
	if err := w.list(n); err != nil && dir.Classify(err) != dir.Gone {
		return fmt.Errorf("read %s: %w", w.full(n.path), err)
	}
	return nil
}
