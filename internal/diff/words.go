package diff

import (
	"bytes"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/worddiff"
)

// Words says how a diff shows changed words. The names are git's.
type Words string

// The ways to show words: not at all, in [-old-]{+new+}, in colours alone, and line by line for
// programs.
const (
	NoWords        Words = ""
	PlainWords     Words = "plain"
	ColorWords     Words = "color"
	PorcelainWords Words = "porcelain"
)

// wordStyle is what stands around a piece of text, and in the place of an end of a line.
type wordStyle struct {
	old, new, same [2]string
	end            string
}

func styleOf(opt DiffOptions) wordStyle {
	style := wordStyle{old: [2]string{"[-", "-]"}, new: [2]string{"{+", "+}"}, end: "\n"}
	switch opt.Words {
	case ColorWords:
		style = wordStyle{end: "\n"}
	case PorcelainWords:
		style = wordStyle{[2]string{"-", "\n"}, [2]string{"+", "\n"}, [2]string{" ", "\n"}, "~\n"}
	}
	if opt.colored() {
		style.old = [2]string{colorOld + style.old[0], style.old[1] + colorReset}
		style.new = [2]string{colorNew + style.new[0], style.new[1] + colorReset}
	}
	return style
}

// writeWords writes hunks with their changed words in the place of changed lines.
func writeWords(w io.Writer, hunks []byte, opt DiffOptions) {
	p := &wordPrinter{w: w, words: opt.Words, colored: opt.colored(), wordStyle: styleOf(opt)}
	for line := range bytes.Lines(hunks) {
		switch line[0] {
		case '-':
			p.before = append(p.before, line[1:]...)
		case '+':
			p.after = append(p.after, line[1:]...)
		case '\\': // git shows an end of the last line even where there is none
		default:
			p.flush()
			p.common(line)
		}
	}
	p.flush()
}

// wordPrinter collects the lines of a change and prints their words. Errors are the writer's, which
// keeps them.
type wordPrinter struct {
	w       io.Writer
	words   Words
	colored bool
	wordStyle
	before, after []byte
}

func (p *wordPrinter) print(text string) { io.WriteString(p.w, text) }

// common prints the head of a hunk or a line that both sides have.
func (p *wordPrinter) common(line []byte) {
	switch {
	case p.colored:
		p.commonColored(line)
	case line[0] == '@':
		p.print(string(line))
	case p.words == PorcelainWords:
		p.print(string(line) + "~\n")
	default:
		p.print(string(line[1:]))
	}
}

// commonColored is common with colours. A line that both sides have has none, but git ends it
// with a reset.
func (p *wordPrinter) commonColored(line []byte) {
	switch {
	case line[0] == '@':
		paintHunkHead(p.w, line)
	case p.words == PorcelainWords:
		paintLine(p.w, "", line)
		p.print("~\n")
	default:
		paintLine(p.w, "", line[1:])
	}
}

// flush prints the change that was collected. The text between the words is that of the new side.
func (p *wordPrinter) flush() {
	before, after := p.before, p.after
	p.before, p.after = nil, nil
	if len(after) == 0 {
		p.piece(before, p.old)
		return
	}
	was, is := worddiff.Cut(before, wordKind), worddiff.Cut(after, wordKind)
	at := 0
	for _, e := range worddiff.Diff(before, was, after, is) {
		from, to := extent(was, e.A0, e.A1)
		begin, end := extent(is, e.B0, e.B1)
		p.piece(after[at:begin], p.same)
		p.piece(before[from:to], p.old)
		p.piece(after[begin:end], p.new)
		at = end
	}
	p.piece(after[at:], p.same)
}

// piece prints a text, marked line by line.
func (p *wordPrinter) piece(text []byte, mark [2]string) {
	for len(text) > 0 {
		line, rest, ended := bytes.Cut(text, []byte{'\n'})
		if len(line) > 0 {
			p.print(mark[0] + string(line) + mark[1])
		}
		if ended {
			p.print(p.end)
		}
		text = rest
	}
}

// wordKind cuts words as git does: they are what blanks separate.
func wordKind(c byte) worddiff.Kind {
	if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
		return worddiff.Skip
	}
	return worddiff.Run
}

// extent returns where some words begin and end. No words are after the word before them.
func extent(words []worddiff.Span, from, to int) (begin, end int) {
	switch {
	case to > from:
		return words[from].From, words[to-1].To
	case from == 0:
		return 0, 0
	}
	return words[from-1].To, words[from-1].To
}
