package linediff

import "bytes"

// MergeResult is the outcome of a three-way merge. Content is nil if there are
// conflicts; it may share memory with an input.
type MergeResult struct {
	Content   []byte
	Conflicts int
}

// Merge applies what theirs changed since base to ours. A merge without conflict
// is, byte for byte, what git merge-file -p ours base theirs prints. There is a
// conflict exactly where git has one: where the two sides changed the same or
// adjoining lines in different ways. No text with conflict markers is made.
// Their number is that of the clusters of overlapping changes; git may show such
// a cluster as several.
//
// Binary content, which git merge-file refuses, merges only if one side did not
// change it or both changed it alike.
func Merge(base, ours, theirs []byte) MergeResult {
	switch {
	case bytes.Equal(ours, theirs), bytes.Equal(base, theirs):
		return MergeResult{Content: ours}
	case bytes.Equal(base, ours):
		return MergeResult{Content: theirs}
	case Binary(base) || Binary(ours) || Binary(theirs):
		return MergeResult{Conflicts: 1}
	}
	content, conflicts := newMerger(base, ours, theirs).run()
	if conflicts > 0 {
		return MergeResult{Conflicts: conflicts}
	}
	return MergeResult{Content: content}
}

// MergeTheirs is Merge of texts that takes theirs where there is a conflict.
func MergeTheirs(base, ours, theirs []byte) []byte {
	content, _ := newMerger(base, ours, theirs).run()
	return content
}

// side is one of the two texts that came from base.
type side struct {
	t     text
	edits cursor
	next  Edit
	more  bool
	shift int // line number here minus line number in base, before next
}

func newSide(base text, content []byte) side {
	s := side{t: newText(content)}
	script := compare(base, s.t)
	script.slide(base, s.t, false)
	s.edits = script.edits()
	s.next, s.more = s.edits.next()
	return s
}

// begins reports whether the next edit begins at that line of base or earlier.
func (s *side) begins(line int) bool { return s.more && s.next.A0 <= line }

// pass takes the next edit and returns where it ends in base.
func (s *side) pass() (end int) {
	end = s.next.A1
	s.shift = s.next.B1 - s.next.A1
	s.next, s.more = s.edits.next()
	return end
}

type merger struct {
	base         text
	ours, theirs side
	out          []byte
}

func newMerger(base, ours, theirs []byte) *merger {
	m := &merger{base: newText(base)}
	m.ours, m.theirs = newSide(m.base, ours), newSide(m.base, theirs)
	return m
}

// run returns the merged text, which has theirs at conflicts, and the number of these.
func (m *merger) run() (content []byte, conflicts int) {
	done := 0 // lines of base dealt with
	for m.ours.more || m.theirs.more {
		start := m.start()
		oursFrom, theirsFrom := start+m.ours.shift, start+m.theirs.shift
		end, byOurs, byTheirs := m.cluster(start)
		ours := m.ours.t.slice(oursFrom, end+m.ours.shift)
		theirs := m.theirs.t.slice(theirsFrom, end+m.theirs.shift)
		m.out = append(m.out, m.base.slice(done, start)...)
		switch done = end; {
		case byOurs && byTheirs && !bytes.Equal(ours, theirs):
			conflicts++
			m.out = append(m.out, theirs...)
		case byOurs:
			m.out = append(m.out, ours...)
		default:
			m.out = append(m.out, theirs...)
		}
	}
	return append(m.out, m.base.slice(done, m.base.lines())...), conflicts
}

// start is the line of base where the next edit of either side begins.
func (m *merger) start() int {
	switch {
	case !m.theirs.more:
		return m.ours.next.A0
	case !m.ours.more:
		return m.theirs.next.A0
	}
	return min(m.ours.next.A0, m.theirs.next.A0)
}

// cluster passes the edits that overlap or adjoin, beginning with that at start,
// and returns where in base they end and whose they are.
func (m *merger) cluster(start int) (end int, byOurs, byTheirs bool) {
	end = start
	for {
		switch {
		case m.ours.begins(end):
			end = max(end, m.ours.pass())
			byOurs = true
		case m.theirs.begins(end):
			end = max(end, m.theirs.pass())
			byTheirs = true
		default:
			return end, byOurs, byTheirs
		}
	}
}
