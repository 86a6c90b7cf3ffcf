package diff

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// The colours of git diff.
const (
	colorMeta  = "\x1b[1m"
	colorHunk  = "\x1b[36m"
	colorOld   = "\x1b[31m"
	colorNew   = "\x1b[32m"
	colorSpace = "\x1b[41m" // blanks that git takes for a mistake
	colorReset = "\x1b[m"
)

// colored reports whether there are colours. The words of ColorWords can be told apart by
// colours alone.
func (opt *DiffOptions) colored() bool { return opt.Color || opt.Words == ColorWords }

// paintHeader writes the lines before the hunks of a file in bold. The tab that ends a name with
// a blank stays outside, as in git.
func paintHeader(w io.Writer, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		name := strings.TrimSuffix(line, "\t")
		io.WriteString(w, colorMeta+name+colorReset+line[len(name):]+"\n")
	}
}

// paintHunkHead writes the line @@ -1,2 +1,2 @@ of a hunk. The text behind it has no colour.
func paintHunkHead(w io.Writer, line []byte) {
	end := bytes.Index(line[2:], []byte("@@")) + 4
	rest := bytes.TrimRight(line[end:], "\r\n")
	ended := line[end+len(rest):]
	heading := bytes.TrimLeft(rest, " \t")
	text := colorHunk + string(line[:end]) + colorReset
	for _, part := range [][]byte{rest[:len(rest)-len(heading)], heading} {
		if len(part) > 0 {
			text += string(part) + colorReset
		}
	}
	io.WriteString(w, text+string(ended))
}

// painter paints the hunks of one file, line by line.
type painter struct {
	w        io.Writer
	old, now int // line numbers of both sides

	// From these lines on, all lines are blank, and the new side has more of them. 0 means that
	// the new side has no more.
	blankOld, blankNow int
}

// paintHunks writes hunks in colours. before and after are the texts of the file.
func paintHunks(w io.Writer, hunks, before, after []byte) {
	p := painter{w: w}
	if was, is := trailingBlank(before), trailingBlank(after); is > was {
		p.blankOld = len(linediff.Lines(before)) - was + 1
		p.blankNow = len(linediff.Lines(after)) - is + 1
	}
	for line := range bytes.Lines(hunks) {
		p.line(line)
	}
}

func (p *painter) line(line []byte) {
	switch line[0] {
	case '@':
		p.old, p.now = startOf(line, '-'), startOf(line, '+')
		paintHunkHead(p.w, line)
	case '-':
		p.old++
		paintLine(p.w, colorOld, line)
	case '+':
		p.now++
		p.added(line)
	case '\\':
		paintLine(p.w, "", line)
	default:
		p.old, p.now = p.old+1, p.now+1
		paintLine(p.w, "", line)
	}
}

// startOf reads a line number of a hunk's head.
func startOf(head []byte, sign byte) int {
	text := head[bytes.IndexByte(head, sign)+1:]
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	n, _ := strconv.Atoi(string(text[:digits])) // a hunk's head has digits there
	return n
}

// paintLine writes a line in one colour. Its end stays outside, and an empty line has none.
func paintLine(w io.Writer, color string, line []byte) {
	text := bytes.TrimSuffix(line, []byte{'\n'})
	text = bytes.TrimSuffix(text, []byte{'\r'})
	if len(text) == 0 {
		w.Write(line)
		return
	}
	io.WriteString(w, color+string(text)+colorReset+string(line[len(text):]))
}

// added writes an added line. Blanks at its end, a blank before a tab of its indent, and blank
// lines at the end of the file are marked.
func (p *painter) added(line []byte) {
	text := line[1:]
	if p.blankNow > 0 && p.old >= p.blankOld && p.now >= p.blankNow && blankLine(text) {
		paintLine(p.w, colorSpace, line)
		return
	}
	text = bytes.TrimSuffix(text, []byte{'\n'})
	ended := line[1+len(text):]
	out := colorNew + "+" + colorReset
	good := bytes.TrimRight(text, " \t\n\r")
	indent := 0
	for i, c := range good {
		if c == ' ' {
			continue
		}
		if c != '\t' {
			break
		}
		if indent < i {
			out += colorSpace + string(good[indent:i]) + colorReset + "\t"
		} else {
			out += "\t"
		}
		indent = i + 1
	}
	if len(good) > indent {
		out += colorNew + string(good[indent:]) + colorReset
	}
	if len(text) > len(good) {
		out += colorSpace + string(text[len(good):]) + colorReset
	}
	io.WriteString(p.w, out+string(ended))
}

func blankLine(line []byte) bool { return len(bytes.Trim(line, " \t\n\r")) == 0 }

// trailingBlank counts the blank lines at the end of a text as git does: a first line that is
// empty does not count.
func trailingBlank(text []byte) (n int) {
	end := len(text) - 1 // at the last byte of a line, before its newline
	if end >= 0 && text[end] == '\n' {
		end--
	}
	for end > 0 {
		newline := bytes.LastIndexByte(text[:end+1], '\n')
		if !blankLine(text[newline+1 : end+1]) {
			break
		}
		n++
		end = newline - 1
	}
	return n
}
