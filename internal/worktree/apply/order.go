package apply

import (
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// phase is the step of [Executor.Run] in which a change is carried out.
type phase uint8

const (
	phaseObstacles phase = iota
	phaseMkdirs
	phaseWrites
	phaseDeletions
	phaseFolders
	phaseCount
)

// orderOf returns the indexes of the changes that are not skipped, by phase, in the order of each
// phase. The result depends only on the changes.
func orderOf(changes []Change, skip func(i int) bool) [phaseCount][]int {
	var order [phaseCount][]int
	blocked := newBlockers(changes, skip)
	for i := range changes {
		if !skip(i) {
			p := phaseOf(&changes[i], blocked)
			order[p] = append(order[p], i)
		}
	}
	for p := range order {
		up := phase(p) == phaseMkdirs || phase(p) == phaseWrites
		slices.SortStableFunc(order[p], func(i, j int) int {
			if !up {
				i, j = j, i
			}
			return comparePaths(changes[i].Path, changes[j].Path)
		})
	}
	return order
}

func phaseOf(c *Change, blocked *blockers) phase {
	switch c.Action {
	case Mkdir:
		return phaseMkdirs
	case Delete, Rmdir:
		if c.As != "" || blocked.by(c) {
			return phaseObstacles
		}
		if c.Action == Delete {
			return phaseDeletions
		}
		return phaseFolders
	case Chmod:
		if c.Mode == object.Dir {
			return phaseFolders
		}
	}
	return phaseWrites
}

// blockers finds the removals that must come before a path can be made.
type blockers struct {
	made   map[string]bool // paths to make; true if everything below must go before
	parent map[string]bool // the directories above them
}

func newBlockers(changes []Change, skip func(i int) bool) *blockers {
	b := &blockers{made: map[string]bool{}, parent: map[string]bool{}}
	removes := func(c Change) bool { return c.Action.Removes() }
	if !slices.ContainsFunc(changes, removes) {
		return b
	}
	for i := range changes {
		c := &changes[i]
		if skip(i) || !c.Action.Makes() {
			continue
		}
		b.made[c.Path] = b.made[c.Path] || c.Action != Mkdir
		for up := parentPath(c.Path); up != "" && !b.parent[up]; up = parentPath(up) {
			b.parent[up] = true
		}
	}
	for i := range changes {
		c := &changes[i]
		if _, ok := b.made[c.Path]; (ok || c.As != "") && c.Action == Rmdir && !skip(i) {
			b.made[c.Path] = true
		}
	}
	return b
}

// by reports whether the removal c is in the way of a path to make: at the same path, above it as a
// file, or below a directory that a file replaces and that must be empty first.
func (b *blockers) by(c *Change) bool {
	if _, ok := b.made[c.Path]; ok || c.Action == Delete && b.parent[c.Path] {
		return true
	}
	for up := parentPath(c.Path); up != "" && len(b.made) > 0; up = parentPath(up) {
		if b.made[up] {
			return true
		}
	}
	return false
}

// comparePaths compares paths name by name and not byte by byte: everything below a directory
// follows it directly.
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return pathRank(a[i]) - pathRank(b[i])
		}
	}
	return len(a) - len(b)
}

func pathRank(c byte) int {
	if c == '/' {
		return -1
	}
	return int(c)
}

// splitPath splits a path into its directory, "" for the root, and its last name.
func splitPath(path string) (parent, name string) {
	parent = parentPath(path)
	if parent == "" {
		return "", strings.TrimPrefix(path, "/")
	}
	return parent, path[len(parent)+1:]
}

func parentPath(path string) string {
	return path[:max(0, strings.LastIndexByte(path, '/'))]
}
