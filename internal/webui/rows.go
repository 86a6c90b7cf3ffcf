package webui

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// row is one line of a side-by-side comparison. Numbers count from 1; 0 means that
// the side has no line here.
type row struct {
	old, new         int
	oldText, newText []byte
	common           bool // unchanged, or equal but for blanks where these do not count
	edit             int  // the change that begins here, from 1; 0 for any other row
}

func (r *row) changed() bool { return !r.common }

// hunk is a run of rows without a gap. Skipped counts the unchanged lines before it
// that are not shown; they begin after line at of the old text.
type hunk struct {
	skipped, at int
	rows        []row
}

// wholeFile is a context of so many lines that all are shown.
const wholeFile = 1 << 30

// comparison holds both texts of a file by lines.
type comparison struct {
	old, new [][]byte
	edits    []linediff.Edit
	opened   []span // unchanged lines of old that are shown, too, counted from 0
}

func compareTexts(old, new []byte) *comparison {
	return &comparison{old: splitLines(old), new: splitLines(new), edits: linediff.Diff(old, new)}
}

// compareIgnoringSpace is compareTexts for lines that are equal if they differ in blanks only.
func compareIgnoringSpace(old, new []byte) *comparison {
	return &comparison{old: splitLines(old), new: splitLines(new), edits: linediff.DiffIgnoringSpace(old, new)}
}

// splitLines cuts a text; a line keeps its '\n'.
func splitLines(text []byte) [][]byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// windows lists the lines of old that are shown, in order: the changes with so many common lines
// around them, and the opened lines. Windows that touch are one.
func (c *comparison) windows(context int) []span {
	var all []span
	for _, e := range c.edits {
		all = append(all, span{max(0, e.A0-context), min(len(c.old), e.A1+context)})
	}
	for _, o := range c.opened {
		if from, to := max(0, o.from), min(len(c.old), o.to); from < to {
			all = append(all, span{from, to})
		}
	}
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out []span
	for _, w := range all {
		if n := len(out); n > 0 && w.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, w.to)
		} else {
			out = append(out, w)
		}
	}
	return out
}

// hunks lists the windows with their rows.
func (c *comparison) hunks(context int) []hunk {
	var out []hunk
	shown, next, delta := 0, 0, 0 // lines of old and edits that are handled; distance of common lines
	for _, w := range c.windows(context) {
		h := hunk{skipped: w.from - shown, at: shown}
		at := w.from
		for ; next < len(c.edits) && c.edits[next].A1 <= w.to; next++ {
			e := c.edits[next]
			h.rows = c.appendCommon(h.rows, at, e.A0, delta)
			h.rows = c.appendEdit(h.rows, next)
			at, delta = e.A1, e.B1-e.A1
		}
		h.rows = c.appendCommon(h.rows, at, w.to, delta)
		out, shown = append(out, h), w.to
	}
	return out
}

// rest counts the unchanged lines after the last hunk.
func (c *comparison) rest(context int) int {
	windows := c.windows(context)
	if len(windows) == 0 {
		return len(c.old)
	}
	return len(c.old) - windows[len(windows)-1].to
}

func (c *comparison) appendCommon(rows []row, from, to, delta int) []row {
	for ; from < to; from++ {
		rows = append(rows, row{old: from + 1, new: from + 1 + delta, oldText: c.old[from], newText: c.new[from+delta], common: true})
	}
	return rows
}

// appendEdit puts both halves of a change beside each other, line by line.
func (c *comparison) appendEdit(rows []row, i int) []row {
	e := c.edits[i]
	for line := range max(e.A1-e.A0, e.B1-e.B0) {
		var r row
		if line == 0 {
			r.edit = i + 1
		}
		if e.A0+line < e.A1 {
			r.old, r.oldText = e.A0+line+1, c.old[e.A0+line]
		}
		if e.B0+line < e.B1 {
			r.new, r.newText = e.B0+line+1, c.new[e.B0+line]
		}
		rows = append(rows, r)
	}
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
