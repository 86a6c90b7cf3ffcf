package gitstate

import (
	"slices"
	"strings"
)

// Movement is what differs between two states of a repository.
type Movement struct {
	Gone, Made bool // the whole repository; all else is empty then

	Head      *RefMove // nil = HEAD names the same branch, or the same commit
	Refs      []RefMove
	Dropped   int // stashes that are no longer listed
	Stashed   int // stashes that were not listed before
	Index     bool
	From, To  string    // operations in progress
	Worktrees []RefMove // HEADs of the other work trees
	Nested    []NestedMove
}

// RefMove is a ref whose value differs. A value is "" where there is no such ref.
type RefMove struct{ Name, From, To string }

// None reports whether nothing differs.
func (m *Movement) None() bool {
	return !m.Gone && !m.Made && m.Head == nil && len(m.Refs)+len(m.Worktrees)+len(m.Nested)+m.Dropped+m.Stashed == 0 && !m.Index && m.From == m.To
}

// Compare returns what differs from one state to another. A nil record stands for no repository.
// The index differs if its entries do, whatever their stat data.
func Compare(from, to *Record) *Movement {
	m := &Movement{}
	switch {
	case from == nil && to == nil:
		return m
	case from == nil || to == nil:
		m.Gone, m.Made = from != nil, to != nil
		return m
	case from.Head != to.Head:
		m.Head = &RefMove{"HEAD", from.Head, to.Head}
	}
	m.Refs = moves(from.Refs, to.Refs)
	m.Dropped, m.Stashed = missing(from.Stash, to.Stash), missing(to.Stash, from.Stash)
	m.Index = !SameIndex(from, to)
	m.From, m.To = from.Under(), to.Under()
	m.Worktrees = moves(from.heads(), to.heads())
	m.Nested = nestedMoves(from.Nested, to.Nested)
	return m
}

func (r *Record) heads() map[string]string {
	heads := make(map[string]string, len(r.Worktrees))
	for _, w := range r.Worktrees {
		heads[w.Name] = w.Head
	}
	return heads
}

func moves(from, to map[string]string) (list []RefMove) {
	for name, was := range from {
		if is := to[name]; is != was {
			list = append(list, RefMove{name, was, is})
		}
	}
	for name, is := range to {
		if _, ok := from[name]; !ok {
			list = append(list, RefMove{name, "", is})
		}
	}
	slices.SortFunc(list, func(a, b RefMove) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// missing counts the stashes of one list that another one lacks.
func missing(list, other []byte) (n int) {
	has := stashes(other)
	for id, times := range stashes(list) {
		n += max(0, times-has[id])
	}
	return n
}

// stashes counts the entries of a reflog by the object that each names.
func stashes(log []byte) map[string]int {
	found := make(map[string]int)
	for line := range strings.Lines(string(log)) {
		if fields := strings.SplitN(line, " ", 3); len(fields) == 3 {
			found[fields[1]]++
		}
	}
	return found
}
