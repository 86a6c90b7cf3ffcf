package hunk

import (
	"cmp"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// TakeBack returns the text after without the given edits: their old lines stand in place of
// their new ones. The edits must be of the difference between the two texts, or parts of it that
// Within has cut, in any order. An edit that is named twice, or beside a part of it, counts once.
//
// A part may bring a last line without '\n' to a place before other lines. The line gets its
// '\n' then.
func TakeBack(before, after []byte, edits []linediff.Edit) []byte {
	old, now := linediff.Lines(before), linediff.Lines(after)
	var text joined
	at := 0
	for _, e := range outermost(edits) {
		text.add(now[at:e.B0])
		text.add(old[e.A0:e.A1])
		at = e.B1
	}
	text.add(now[at:])
	return text.bytes
}

// outermost sorts edits and drops the ones that lie in another.
func outermost(edits []linediff.Edit) []linediff.Edit {
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b linediff.Edit) int {
		return cmp.Or(a.B0-b.B0, a.A0-b.A0, b.B1-a.B1, b.A1-a.A1)
	})
	kept := edits[:0]
	for _, e := range edits {
		if n := len(kept); n == 0 || e.B1 > kept[n-1].B1 || e.A1 > kept[n-1].A1 {
			kept = append(kept, e)
		}
	}
	return kept
}

// joined is a text made of lines.
type joined struct{ bytes []byte }

func (j *joined) add(lines [][]byte) {
	for _, line := range lines {
		if n := len(j.bytes); n > 0 && j.bytes[n-1] != '\n' {
			j.bytes = append(j.bytes, '\n')
		}
		j.bytes = append(j.bytes, line...)
	}
}

// Range is a run of lines of a new text, numbered from 1, both ends included.
type Range struct{ From, To int }

// Within returns the parts of edits that lie in some ranges of the new text. Of a run of lines
// that replaces another, each new line stands for the old line of the same place, and the last
// new line for all further old ones. Lines that were only removed are between two new lines, and
// within a range if one of these is.
func Within(edits []linediff.Edit, ranges ...Range) []linediff.Edit {
	var parts []linediff.Edit
	ranges = joinedRanges(ranges)
	for _, e := range edits {
		// The lines after an edit's end may decide about a removal, so that the last range counts again.
		for len(ranges) > 0 && ranges[0].To < e.B0 {
			ranges = ranges[1:]
		}
		for _, r := range ranges {
			if r.From-1 > e.B1 {
				break
			}
			if part, ok := within(e, r); ok {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

func within(e linediff.Edit, r Range) (part linediff.Edit, ok bool) {
	if e.B0 == e.B1 {
		return e, r.From-1 <= e.B0 && e.B0 <= r.To
	}
	first, end := max(e.B0, r.From-1), min(e.B1, r.To)
	if first >= end {
		return part, false
	}
	part = linediff.Edit{A0: min(e.A0+first-e.B0, e.A1), A1: min(e.A0+end-e.B0, e.A1), B0: first, B1: end}
	if end == e.B1 {
		part.A1 = e.A1
	}
	return part, true
}

// joinedRanges sorts ranges and joins the ones that touch.
func joinedRanges(ranges []Range) []Range {
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b Range) int { return a.From - b.From })
	var joined []Range
	for _, r := range ranges {
		if n := len(joined); n > 0 && r.From <= joined[n-1].To+1 {
			joined[n-1].To = max(joined[n-1].To, r.To)
		} else if r.From <= r.To {
			joined = append(joined, r)
		}
	}
	return joined
}
