package webui

import (
	"bytes"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// row is one line of a side-by-side comparison. Numbers count from 1; 0 means that
// the side has no line here.
type row struct {
	old, new         int
	oldText, newText []byte
}

func (r *row) changed() bool { return r.old == 0 || r.new == 0 || !bytes.Equal(r.oldText, r.newText) }

// hunk is a run of rows without a gap. Skipped counts the unchanged lines before it
// that are not shown.
type hunk struct {
	skipped int
	rows    []row
}

// wholeFile is a context of so many lines that all are shown.
const wholeFile = 1 << 30

// comparison holds both texts of a file by lines.
type comparison struct {
	old, new [][]byte
	edits    []linediff.Edit
}

func compareTexts(old, new []byte) *comparison {
	return &comparison{splitLines(old), splitLines(new), linediff.Diff(old, new)}
}

// splitLines cuts a text; a line keeps its '\n'.
func splitLines(text []byte) [][]byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// hunks lists the changes, each with context common lines around it. Changes whose
// contexts touch are one hunk.
func (c *comparison) hunks(context int) []hunk {
	var out []hunk
	shown := 0 // lines of old that are handled
	for i := 0; i < len(c.edits); {
		from := max(shown, c.edits[i].A0-context)
		last := i
		for last+1 < len(c.edits) && c.edits[last+1].A0-c.edits[last].A1 <= 2*context {
			last++
		}
		to := min(len(c.old), c.edits[last].A1+context)
		out = append(out, hunk{skipped: from - shown, rows: c.between(from, to, c.edits[i:last+1])})
		shown, i = to, last+1
	}
	return out
}

// rest counts the unchanged lines after the last hunk.
func (c *comparison) rest(context int) int {
	if len(c.edits) == 0 {
		return len(c.old)
	}
	return max(0, len(c.old)-c.edits[len(c.edits)-1].A1-context)
}

// between pairs the lines from one line of old to another. Both halves of a change
// stand beside each other, line by line.
func (c *comparison) between(from, to int, edits []linediff.Edit) []row {
	var rows []row
	delta := edits[0].B0 - edits[0].A0 // of the numbers of common lines
	common := func(end int) {
		for ; from < end; from++ {
			rows = append(rows, row{from + 1, from + 1 + delta, c.old[from], c.new[from+delta]})
		}
	}
	for _, e := range edits {
		common(e.A0)
		for i := 0; i < max(e.A1-e.A0, e.B1-e.B0); i++ {
			var r row
			if e.A0+i < e.A1 {
				r.old, r.oldText = e.A0+i+1, c.old[e.A0+i]
			}
			if e.B0+i < e.B1 {
				r.new, r.newText = e.B0+i+1, c.new[e.B0+i]
			}
			rows = append(rows, r)
		}
		from, delta = e.A1, e.B1-e.A1
	}
	common(to)
	return rows
}

// changedPart is the part of two versions of a line between the words that both begin
// with and the words that both end with. Lines with hardly a common word have none: a
// mark on the whole line would not help.
func changedPart(old, new []byte) (o, n span) {
	head := 0
	for head < len(old) && head < len(new) && old[head] == new[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(new)-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	for head > 0 && (inWord(old, head) || inWord(new, head)) {
		head--
	}
	for tail > 0 && (inWord(old, len(old)-tail) || inWord(new, len(new)-tail)) {
		tail--
	}
	blank := len(old) - len(bytes.TrimLeft(old, " \t"))
	if 3*(head+tail-min(head, blank)) < min(len(old), len(new)) {
		return span{}, span{}
	}
	return span{head, len(old) - tail}, span{head, len(new) - tail}
}

// span is bytes [from,to) of a line.
type span struct{ from, to int }

// inWord reports whether position i lies inside a word, or inside a rune.
func inWord(line []byte, i int) bool {
	return i > 0 && i < len(line) && wordByte(line[i-1]) && wordByte(line[i])
}

func wordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= 0x80
}
