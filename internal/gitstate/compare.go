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
	had, has := stashes(from.Stash), stashes(to.Stash)
	m.Dropped, m.Stashed = Missing(had, has), Missing(has, had)
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

// Missing counts the stashes of one list that another one lacks, by their ids. A stash may be in a list
// several times.
func Missing(list, other []string) (n int) {
	has := make(map[string]int)
	for _, id := range other {
		has[id]++
	}
	for _, id := range list {
		if has[id]--; has[id] < 0 {
			n++
		}
	}
	return n
}

// stashes lists the object that each entry of a reflog names.
func stashes(log []byte) (ids []string) {
	for line := range strings.Lines(string(log)) {
		if fields := strings.SplitN(line, " ", 3); len(fields) == 3 {
			ids = append(ids, fields[1])
		}
	}
	return ids
}
