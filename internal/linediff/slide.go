package linediff

import (
	"bytes"
	"sort"
)

// A group can slide by a line without changing what the script does when the
// line that leaves it at one end equals the line that enters at the other.
// Sliding it into the next group merges the two. git slides every group as far
// up and then as far down as it goes, so that groups that can meet do; then

//   - if the other side has a group in one of the places it passed, it goes to
//     the lowest of those, and the two print as one modification;
//   - else the indentation of the lines around decides (indent.go).

// slide moves the groups of both sides, first the deleted lines, then the added.
// Without regard to the indentation a group that is free to move stays at the
// lowest place.
func (s *script) slide(a, b text, byIndent bool) { s.slideBy(a, b, a, b, byIndent) }

// slideBy is slide for texts whose lines are equal where those of keyA and keyB are.
func (s *script) slideBy(a, b, keyA, keyB text, byIndent bool) {
	s.a = slideSide(a, keyA, s.a, s.b, byIndent)
	s.b = slideSide(b, keyB, s.b, s.a, byIndent)
}

// slider is the pass over one side. done holds the groups that have found their
// place, todo those that follow the present one.
type slider struct {
	t, key     text // the lines, and the form in which they are compared
	done, todo []group
	now        group
	before     int // changed lines in done
	byIndent   bool
}

func slideSide(t, key text, groups, other []group, byIndent bool) []group {
	s := slider{t: t, key: key, done: groups[:0], byIndent: byIndent}
	for s.todo = groups; len(s.todo) > 0; {
		s.now, s.todo = s.todo[0], s.todo[1:]
		s.place(other)
		s.done = append(s.done, s.now)
		s.before += s.now.size
	}
	return s.done
}

// start is the first line of the present group.
func (s *slider) start() int { return s.now.gap + s.before }

// place slides the present group over its whole range, collecting its
// neighbours, and then to the best place in that range.
func (s *slider) place(other []group) {
	var top, size int
	for size != s.now.size {
		size = s.now.size
		for s.up() {
		}
		top = s.now.gap
		for s.down() {
		}
	}
	if top == s.now.gap {
		return
	}
	// The lowest group of the other side in the range.
	i := sort.Search(len(other), func(i int) bool { return other[i].gap > s.now.gap }) - 1
	if i >= 0 && other[i].gap >= top {
		s.now.gap = other[i].gap
		return
	}
	if !s.byIndent {
		return
	}
	s.now.gap -= s.start() + s.now.size - bestEnd(s.t, s.start(), s.now.size, s.now.gap-top)
}

// up slides the present group by one line and merges it with the group it meets.
func (s *slider) up() bool {
	start := s.start()
	end := start + s.now.size
	if s.now.gap == 0 || !bytes.Equal(s.key.line(start-1), s.key.line(end-1)) {
		return false
	}
	s.now.gap--
	if n := len(s.done); n > 0 && s.done[n-1].gap == s.now.gap {
		s.now.size += s.done[n-1].size
		s.before -= s.done[n-1].size
		s.done = s.done[:n-1]
	}
	return true
}

// down is up in the other direction.
func (s *slider) down() bool {
	start := s.start()
	end := start + s.now.size
	if end == s.t.lines() || !bytes.Equal(s.key.line(start), s.key.line(end)) {
		return false
	}
	s.now.gap++
	if len(s.todo) > 0 && s.todo[0].gap == s.now.gap {
		s.now.size += s.todo[0].size
		s.todo = s.todo[1:]
	}
	return true
}
