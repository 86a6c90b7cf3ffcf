package linediff

// The indent heuristic of git (M. Haggerty, 2016): of all the places a group can
// slide to, prefer the one whose two ends look most like the ends of a block. The
// weights were fitted to diffs rated by people and are the documented ones.

const (
	maxSlide  = 100 // places looked at
	maxIndent = 200 // deeper lines count as this deep
	maxBlanks = 20  // blank lines looked at around an end

	startOfTextPenalty     = 1
	endOfTextPenalty       = 21
	blankWeight            = -30 // each blank line around the end
	blankAfterWeight       = 6   // each one after it
	indentPenalty          = -4  // deeper than the line before
	indentBlankPenalty     = 10  // the same, with blank lines between
	outdentPenalty         = 24  // less deep than the line before, the next one deeper
	outdentBlankPenalty    = 17
	dedentPenalty          = 23 // less deep than the line before, the next one not deeper
	dedentBlankPenalty     = 17
	effectiveIndentPenalty = 60 // the deeper of two places

	blank = -1 // the indent of a blank line, and of what lies outside the text
)

// bestEnd returns where a group of size lines that starts at start, the lowest
// place it can go to, should end; it can move up by reach lines.
func bestEnd(t text, start, size, reach int) int {
	end := start + size
	var best score
	bestAt := -1
	for at := end - min(reach, size+1, maxSlide); at <= end; at++ {
		sc := scoreAt(t, at).plus(scoreAt(t, at-size))
		if bestAt < 0 || !best.better(sc) {
			best, bestAt = sc, at
		}
	}
	return bestAt
}

// score rates a place; less is better. Indents are compared, not weighed.
type score struct{ indent, penalty int }

func (s score) plus(o score) score { return score{s.indent + o.indent, s.penalty + o.penalty} }

func (s score) better(o score) bool {
	d := s.penalty - o.penalty
	switch {
	case s.indent < o.indent:
		d -= effectiveIndentPenalty
	case s.indent > o.indent:
		d += effectiveIndentPenalty
	}
	return d < 0
}

// scoreAt rates a boundary between line at-1 and line at.
func scoreAt(t text, at int) score {
	indent := blank
	if at < t.lines() {
		indent = indentOf(t.line(at))
	}
	before, blanksBefore := indentBefore(t, at)
	after, blanksAfter := indentAfter(t, at)

	var s score
	if before == blank && blanksBefore == 0 {
		s.penalty += startOfTextPenalty
	}
	if at >= t.lines() {
		s.penalty += endOfTextPenalty
	}
	if indent == blank {
		blanksAfter++
		indent = after
	} else {
		blanksAfter = 0
	}
	blanks := blanksBefore + blanksAfter
	s.penalty += blankWeight*blanks + blankAfterWeight*blanksAfter
	s.indent = indent
	if indent != blank && before != blank {
		s.penalty += step(before, indent, after, blanks > 0)
	}
	return s
}

// step rates the change of indent from the line before the boundary to the line
// after it, given the line after that.
func step(before, indent, after int, blanks bool) int {
	pick := func(with, without int) int {
		if blanks {
			return with
		}
		return without
	}
	switch {
	case indent > before:
		return pick(indentBlankPenalty, indentPenalty)
	case indent == before:
		return 0
	case after > indent:
		return pick(outdentBlankPenalty, outdentPenalty)
	}
	return pick(dedentBlankPenalty, dedentPenalty)
}

// indentBefore returns the indent of the last line before at that is not blank
// and the number of blank ones between. Too many count as a line without indent.
func indentBefore(t text, at int) (indent, blanks int) {
	for i := at - 1; i >= 0; i-- {
		if indent = indentOf(t.line(i)); indent != blank {
			return indent, blanks
		}
		if blanks++; blanks == maxBlanks {
			return 0, blanks
		}
	}
	return blank, blanks
}

// indentAfter is indentBefore for the lines after line at.
func indentAfter(t text, at int) (indent, blanks int) {
	for i := at + 1; i < t.lines(); i++ {
		if indent = indentOf(t.line(i)); indent != blank {
			return indent, blanks
		}
		if blanks++; blanks == maxBlanks {
			return 0, blanks
		}
	}
	return blank, blanks
}

// indentOf returns the width of the white space a line begins with, tabs going to
// multiples of 8, or blank if there is nothing else.
func indentOf(line []byte) int {
	indent := 0
	for _, c := range line {
		switch c {
		case ' ':
			indent++
		case '\t':
			indent += 8 - indent%8
		case '\n', '\r':
		default:
			return indent
		}
		if indent >= maxIndent {
			return maxIndent
		}
	}
	return blank
}
