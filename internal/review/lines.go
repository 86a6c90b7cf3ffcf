package review

import (
	"context"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/syntax"
	"github.com/seed-fb9cbc17/cairn/internal/worddiff"
)

// fileView is a file with all that its lines need to be drawn.
type fileView struct {
	diff   *cairn.FileDiff
	lines  []diffLine
	starts []int           // index of the header of each hunk
	rows   []pair          // side by side
	taken  map[string]bool // names of hunks that operations have taken back
}

// diffLine is one line of the pane with the hunks.
type diffLine struct {
	hunk     int
	kind     byte // '@' header, ' ', '-', '+', '\\'
	old, new int  // numbers, 0 = none
	text     string
	tokens   []syntax.Token
	words    []extent // changed in comparison with the other side
}

// extent is bytes [from,to) of a line.
type extent struct{ from, to int }

// maxColoured is the size in bytes of a text above which the pane shows no tokens.
const maxColoured = 2 << 20

// newFileView prepares a file. It takes time linear in the texts.
func newFileView(ctx context.Context, d *cairn.FileDiff) (*fileView, error) {
	v := &fileView{diff: d}
	for i := range d.Hunks {
		v.addHunk(i)
	}
	for i := 0; i < len(v.lines) && ctx.Err() == nil; {
		i = v.compareRun(i)
	}
	v.rows = v.pairs()
	lang := syntax.For(string(d.File), []byte(firstOf(d.After, d.Before)))
	v.colour(lang, d.Before, func(l *diffLine) int {
		if l.kind != '-' { // the new text has its context, too
			return 0
		}
		return l.old
	})
	v.colour(lang, d.After, func(l *diffLine) int { return l.new })
	return v, ctx.Err()
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if line, _, _ := strings.Cut(t, "\n"); line != "" {
			return line
		}
	}
	return ""
}

func (v *fileView) addHunk(i int) {
	h := &v.diff.Hunks[i]
	v.starts = append(v.starts, len(v.lines))
	v.lines = append(v.lines, diffLine{hunk: i, kind: '@', text: h.Header})
	old, now := h.OldStart, h.NewStart
	for _, text := range h.Lines {
		l := diffLine{hunk: i, kind: '\\', text: text}
		if text != "" && text[0] != '\\' {
			l.kind, l.text = text[0], strings.TrimSuffix(text[1:], "\n")
		}
		if l.kind == ' ' || l.kind == '-' {
			l.old = old
			old++
		}
		if l.kind == ' ' || l.kind == '+' {
			l.new = now
			now++
		}
		v.lines = append(v.lines, l)
	}
}

// run returns where the deleted lines from i end, and the added lines after these.
func (v *fileView) run(i int) (deleted, added int) {
	for deleted = i; deleted < len(v.lines) && v.lines[deleted].kind == '-'; deleted++ {
	}
	for added = deleted; added < len(v.lines) && v.lines[added].kind == '+'; added++ {
	}
	return deleted, added
}

// maxCompared is the number of lines above which changed words are not looked for.
const maxCompared = 400

// compareRun finds the changed words of a run of deleted and added lines, and returns the line
// after it.
func (v *fileView) compareRun(i int) int {
	deleted, added := v.run(i)
	if deleted == i || added == deleted || added-i > maxCompared {
		return max(added, i+1)
	}
	was, is := wordsIn(v.lines[i:deleted]), wordsIn(v.lines[deleted:added])
	edits := linediff.DiffSequence(was.joined(), is.joined())
	changed := 0
	for _, e := range edits {
		changed += e.A1 - e.A0 + e.B1 - e.B0
	}
	if 4*changed > 3*(len(was.at)+len(is.at)) { // another text, not other words
		return added
	}
	for _, e := range edits {
		was.mark(v.lines[i:deleted], e.A0, e.A1)
		is.mark(v.lines[deleted:added], e.B0, e.B1)
	}
	return added
}

// words are the words of some lines: letters and digits, or one other character.
type words struct {
	lines []diffLine
	at    []place
}

type place struct {
	line int
	extent
}

func wordsIn(lines []diffLine) words {
	w := words{lines: lines}
	for i := range lines {
		for _, at := range worddiff.Cut([]byte(lines[i].text), wordKind) {
			w.at = append(w.at, place{i, extent{at.From, at.To}})
		}
	}
	return w
}

// wordKind cuts words of code: letters and digits, or one other character. Blanks are none.
func wordKind(c byte) worddiff.Kind {
	switch {
	case c == ' ' || c == '\t':
		return worddiff.Skip
	case c >= 0x80 || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z':
		return worddiff.Run
	}
	return worddiff.Alone
}

// joined has one word a line.
func (w words) joined() []byte {
	var out []byte
	for _, p := range w.at {
		out = append(append(out, w.lines[p.line].text[p.from:p.to]...), '\n')
	}
	return out
}

// mark marks words as changed. Words of one line that follow each other become one extent, with the
// blanks between them.
func (w words) mark(lines []diffLine, from, to int) {
	for i := from; i < to; {
		end := i + 1
		for end < to && w.at[end].line == w.at[i].line {
			end++
		}
		l := &lines[w.at[i].line]
		l.words = append(l.words, extent{w.at[i].from, w.at[end-1].to})
		i = end
	}
}

// colour finds the tokens of the lines that number says are of a text, 0 for the others.
func (v *fileView) colour(lang *syntax.Language, text string, number func(*diffLine) int) {
	if lang == nil || len(text) > maxColoured {
		return
	}
	wanted := make(map[int][]*diffLine)
	last := 0
	for i := range v.lines {
		if n := number(&v.lines[i]); n > 0 {
			wanted[n] = append(wanted[n], &v.lines[i])
			last = max(last, n)
		}
	}
	scan := syntax.NewScanner(lang)
	for n := 1; n <= last && text != ""; n++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		tokens := scan.Line([]byte(line))
		for _, l := range wanted[n] {
			l.tokens = append([]syntax.Token(nil), tokens...)
		}
	}
}
