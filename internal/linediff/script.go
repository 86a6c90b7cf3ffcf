package linediff

import "math"

// group is a run of changed lines on one side of a comparison. gap says where:
// after how many of the lines that both sides share. Groups of the two sides
// with the same gap replace each other.
type group struct{ gap, size int }

// script is the outcome of a comparison: the groups of both sides, in order,
// none empty, no two with the same gap.
type script struct{ a, b []group }

func (s *script) stat() Stat {
	var st Stat
	for _, g := range s.a {
		st.Deleted += g.size
	}
	for _, g := range s.b {
		st.Added += g.size
	}
	return st
}

// list returns all edits.
func (s *script) list() []Edit {
	out := make([]Edit, 0, max(len(s.a), len(s.b)))
	for c := s.edits(); ; {
		e, ok := c.next()
		if !ok {
			return out
		}
		out = append(out, e)
	}
}

// edits returns a cursor before the first edit.
func (s *script) edits() cursor { return cursor{a: s.a, b: s.b} }

// cursor walks over the edits of a script. A copy walks on its own.
type cursor struct {
	a, b           []group // yet to come
	deleted, added int     // lines in the groups passed
}

// next puts the next groups of both sides together.
func (c *cursor) next() (e Edit, ok bool) {
	gap := math.MaxInt
	if len(c.a) > 0 {
		gap = c.a[0].gap
	}
	if len(c.b) > 0 {
		gap = min(gap, c.b[0].gap)
	}
	if gap == math.MaxInt {
		return Edit{}, false
	}
	e = Edit{A0: gap + c.deleted, B0: gap + c.added}
	if len(c.a) > 0 && c.a[0].gap == gap {
		c.deleted += c.a[0].size
		c.a = c.a[1:]
	}
	if len(c.b) > 0 && c.b[0].gap == gap {
		c.added += c.b[0].size
		c.b = c.b[1:]
	}
	e.A1, e.B1 = gap+c.deleted, gap+c.added
	return e, true
}

// maxLines keeps sums of line numbers within 32 bits.
const maxLines = 1 << 30

// compare finds the changed lines of both texts; the groups lie where the search
// happened to find them. Beyond maxLines there is no search: all that is not in
// the common ends counts as changed.
func compare(a, b text) *script {
	head, tail := commonEnds(a, b)
	endA, endB := a.lines()-tail, b.lines()-tail
	if head == endA || head == endB || endA+endB > maxLines {
		return &script{wholeGroup(head, endA), wholeGroup(head, endB)}
	}
	c := newClasses(a, b, endA-head+endB-head)
	idA, idB := c.middleA(head, endA), c.middleB(head, endB)
	c.countShared(0, head)
	c.countShared(endA, a.lines())
	rarityA, rarityB := rarities(idA, c.inB, a.lines()), rarities(idB, c.inA, b.lines())

	s := search{changedA: make([]bool, len(idA)), changedB: make([]bool, len(idB))}
	s.a, s.atA = matchable(idA, rarityA, s.changedA)
	s.b, s.atB = matchable(idB, rarityB, s.changedB)
	s.run()
	return &script{groupsOf(s.changedA, head), groupsOf(s.changedB, head)}
}

func wholeGroup(from, to int) []group {
	if from == to {
		return nil
	}
	return []group{{from, to - from}}
}

// groupsOf collects the marked lines; first is the number of common lines before.
func groupsOf(changed []bool, first int) []group {
	n := 0
	for i, c := range changed {
		if c && (i == 0 || !changed[i-1]) {
			n++
		}
	}
	out := make([]group, 0, n)
	gap := first
	for i, c := range changed {
		switch {
		case !c:
			gap++
		case i > 0 && changed[i-1]:
			out[len(out)-1].size++
		default:
			out = append(out, group{gap, 1})
		}
	}
	return out
}
