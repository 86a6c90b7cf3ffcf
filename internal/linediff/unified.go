package linediff

import (
	"bytes"
	"io"
	"strconv"
	"unicode/utf8"
)

const (
	defaultContext = 3
	maxHeading     = 80
)

// Options says how to print a comparison.
type Options struct {
	Context     int  // lines around a change; 0 means 3, -1 none, a large number the whole text
	IgnoreSpace bool // as git diff -w: lines are equal if they differ in blanks only
}

func (o Options) context() int {
	switch {
	case o.Context == 0:
		return defaultContext
	case o.Context < 0:
		return 0
	}
	return o.Context
}

// WriteUnified writes the hunks that git diff prints for a and b, without the
// lines that name the files, and returns the number of lines it wrote with '+'
// and '-'. Equal texts have no hunks. The error is the writer's.
//
// The numbers are those of Count unless the context is none: then git leaves the
// common tail of the texts unread and may find other changes.
func WriteUnified(w io.Writer, a, b []byte, opt Options) (Stat, error) {
	p := printer{out: output{w: w}, context: opt.context(), ignoreSpace: opt.IgnoreSpace}
	switch {
	case bytes.Equal(a, b):
		return Stat{}, nil
	case len(a) == 0 || len(b) == 0:
		p.replacement(a, b)
	default:
		p.a, p.b = newText(a), newText(b)
		p.hunks()
	}
	return p.stat, p.out.flush()
}

// printer writes hunks. Errors stick to out and come up when it is flushed.
type printer struct {
	out     output
	a, b    text
	context int
	stat    Stat

	ignoreSpace bool

	heading []byte // the last line of a that can be one, among those before seen
	seen    int
}

// replacement writes the one hunk of texts of which one is empty. They need not
// be cut into lines first.
func (p *printer) replacement(a, b []byte) {
	p.stat = Stat{Added: lineCount(b), Deleted: lineCount(a)}
	p.header(Edit{0, p.stat.Deleted, 0, p.stat.Added})
	p.out.lines('-', a)
	p.out.lines('+', b)
}

// hunks writes all hunks. When git prints no context it leaves the common tail
// unread, so that no change can slide there.
func (p *printer) hunks() {
	a, b := p.a, p.b
	if p.context == 0 {
		a, b = cutTail(a, b)
	}
	for edits := p.placed(a, b).edits(); p.out.err == nil; {
		n, covered := p.nextHunk(edits)
		if n == 0 {
			return
		}
		p.hunk(&edits, n, covered)
	}
}

// nextHunk returns how many of the next edits have too few lines between them to
// stand apart, and the lines from the first of them to the last.
func (p *printer) nextHunk(edits cursor) (n int, covered Edit) {
	for {
		e, ok := edits.next()
		if !ok || n > 0 && (e.A0-covered.A1-1)/2 >= p.context {
			return n, covered
		}
		if n == 0 {
			covered = e
		}
		covered.A1, covered.B1 = e.A1, e.B1
		n++
	}
}

func (p *printer) placed(a, b text) *script {
	if p.ignoreSpace {
		return placedIgnoringSpace(a, b)
	}
	return placed(a, b)
}

// hunk writes the next n edits as one hunk. Common lines are those of b.
func (p *printer) hunk(edits *cursor, n int, covered Edit) {
	before := min(p.context, covered.A0)
	after := min(p.context, p.a.lines()-covered.A1)
	at := covered.B0 - before
	p.header(Edit{covered.A0 - before, covered.A1 + after, at, covered.B1 + after})
	for range n {
		e, _ := edits.next()
		p.out.lines(' ', p.b.slice(at, e.B0))
		p.out.lines('-', p.a.slice(e.A0, e.A1))
		p.out.lines('+', p.b.slice(e.B0, e.B1))
		p.stat.Deleted += e.A1 - e.A0
		p.stat.Added += e.B1 - e.B0
		at = e.B1
	}
	p.out.lines(' ', p.b.slice(at, covered.B1+after))
}

func (p *printer) header(h Edit) {
	line := make([]byte, 0, len("@@ -, +, @@ \n")+4*20+maxHeading)
	line = appendSpan(append(line, "@@ -"...), h.A0, h.A1)
	line = appendSpan(append(line, " +"...), h.B0, h.B1)
	line = append(line, " @@"...)
	if heading := p.headingBefore(h.A0); len(heading) > 0 {
		line = append(append(line, ' '), heading...)
	}
	p.out.write(append(line, '\n'))
}

// appendSpan appends a range of lines: the first, from 1, and their number unless
// it is one. An empty range is named by the line before it.
func appendSpan(dst []byte, from, to int) []byte {
	n := to - from
	if n > 0 {
		from++
	}
	dst = strconv.AppendInt(dst, int64(from), 10)
	if n != 1 {
		dst = strconv.AppendInt(append(dst, ','), int64(n), 10)
	}
	return dst
}

// headingBefore returns the heading for a hunk whose first line is from: the last
// line before that starts like a definition. Each line is looked at once.
func (p *printer) headingBefore(from int) []byte {
	for i := from - 1; i >= p.seen; i-- {
		if line := p.a.line(i); startsHeading(line[0]) {
			p.heading = trimHeading(line)
			break
		}
	}
	p.seen = max(p.seen, from)
	return p.heading
}

func startsHeading(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
}

// trimHeading cuts a line to its first 80 bytes, drops the blanks at the end and
// then whatever follows the first byte that is not UTF-8, such as half a
// character at the cut. Blanks before that byte stay.
func trimHeading(line []byte) []byte {
	line = bytes.TrimRight(line[:min(len(line), maxHeading)], " \t\n\r")
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && size == 1 || r == '\uFFFE' || r == '\uFFFF' {
			return line[:i]
		}
		i += size
	}
	return line
}
