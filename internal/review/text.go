package review

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const tabWidth = 4

// visible replaces whatever is not printable: control characters, escape sequences, bytes that are
// not UTF-8, and characters that change the direction of the text.
func visible(text string) string {
	var b strings.Builder
	writeVisible(&b, text, 0)
	return b.String()
}

// writeVisible writes a text that begins at a column, and returns the column after it. A tab goes
// to the next stop.
func writeVisible(b *strings.Builder, text string, column int) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		piece := text[i : i+size]
		width := 1
		switch {
		case r == '\t':
			width = tabWidth - column%tabWidth
			piece = strings.Repeat(" ", width)
		case r == utf8.RuneError && size == 1, r < 0x20 || r == 0x7f:
			piece = fmt.Sprintf(`\x%02x`, text[i])
			width = len(piece)
		case !strconv.IsPrint(r):
			piece = fmt.Sprintf(`\u%04x`, r)
			width = len(piece)
		case r >= utf8.RuneSelf:
			width = ansi.StringWidth(piece)
		}
		b.WriteString(piece)
		column += width
		i += size
	}
	return column
}

// visibleLine is visible for a text of several lines on one line.
func visibleLine(text string) string {
	return visible(strings.Join(strings.Fields(text), " "))
}

// fit cuts a line, which may hold styles, to a width, or fills it up.
func fit(line string, width int) string {
	if width <= 0 {
		return ""
	}
	n := ansi.StringWidth(line)
	if n > width {
		line = ansi.Truncate(line, width, "")
		n = ansi.StringWidth(line)
	}
	return line + strings.Repeat(" ", width-n)
}

// short cuts a text to a width, with an ellipsis for the rest.
func short(text string, width int) string {
	if ansi.StringWidth(text) <= width {
		return text
	}
	return ansi.Truncate(text, max(width, 0), "…")
}

// shortPath cuts the beginning of a path, because its end tells files apart.
func shortPath(path string, width int) string {
	if ansi.StringWidth(path) <= width || width < 2 {
		return short(path, width)
	}
	return lastColumns(path, width, "…")
}

// lastColumns cuts the beginning of a text that is too wide. A wide character at the edge goes as a whole.
func lastColumns(text string, width int, instead string) string {
	from := ansi.StringWidth(text) - width + ansi.StringWidth(instead)
	end := ansi.TruncateLeft(text, from, instead)
	if ansi.StringWidth(end) > width {
		end = ansi.TruncateLeft(text, from+1, instead)
	}
	return end
}

// between puts a text at either end of a line.
func between(left, right string, width int) string {
	room := width - ansi.StringWidth(right)
	if room < 8 {
		return fit(left, width)
	}
	return fit(left, room) + right
}

// wrap breaks a printable text into at most max lines.
func wrap(text string, width, max int) []string {
	lines := strings.Split(ansi.Wrap(text, width, ""), "\n")
	if len(lines) > max {
		lines = lines[:max]
		lines[max-1] = short(lines[max-1]+" …", width)
	}
	return lines
}

// folded breaks a printable text that is too long for a line. The lines after the first have room for an indent.
func folded(text string, width int) []string {
	if ansi.StringWidth(text) <= width {
		return []string{text}
	}
	return wrap(text, max(width-4, 1), allLines)
}
