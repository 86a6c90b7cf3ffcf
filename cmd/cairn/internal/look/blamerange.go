package look

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// cutBlame leaves only the lines of some ranges.
func (c *commands) cutBlame(b *session.Blame, ranges []string) error {
	if len(ranges) == 0 {
		return nil
	}
	wanted := make([]bool, len(b.Lines)+2) // by number; a deleted line may stand after the last one
	after := 0
	for _, text := range ranges {
		start, end, err := c.lineRange(text, b.Lines, after)
		if err != nil {
			return err
		}
		for i := start; i <= end; i++ {
			wanted[i] = true
		}
		wanted[len(b.Lines)+1] = wanted[len(b.Lines)+1] || end == len(b.Lines)
		after = end
	}
	b.Lines = slices.DeleteFunc(b.Lines, func(l session.BlameLine) bool { return !wanted[l.Line] })
	b.Deleted = slices.DeleteFunc(b.Deleted, func(d session.DeletedLine) bool { return !wanted[d.Line] })
	return nil
}

// lineRange reads START,END as git blame -L does. A search begins after the range before.
func (c *commands) lineRange(text string, lines []session.BlameLine, after int) (start, end int, err error) {
	first, last, err := c.cutRange(text)
	if err != nil {
		return 0, 0, err
	}
	start, end = 1, len(lines)
	if first != "" {
		if start, err = c.rangeEnd(first, lines, after); err != nil {
			return 0, 0, err
		}
	}
	switch {
	case last == "":
	case last[0] == '+' || last[0] == '-':
		n, err := strconv.Atoi(last[1:])
		if err != nil || n < 1 {
			return 0, 0, c.Usage("cannot read %s: want START,+COUNT or START,-COUNT", wording.ShellWord(text))
		}
		n = min(n, max(start, len(lines)))
		if end = start + n - 1; last[0] == '-' {
			start, end = max(1, start-n+1), start
		}
	default:
		if end, err = c.rangeEnd(last, lines, start); err != nil {
			return 0, 0, err
		}
	}
	if start > len(lines) {
		return 0, 0, c.Usage("cannot show line %d: the file has %d", start, len(lines))
	}
	return min(start, end), min(max(start, end), len(lines)), nil
}

// cutRange cuts a range at the comma between its ends.
func (c *commands) cutRange(text string) (first, last string, err error) {
	rest := text
	if strings.HasPrefix(text, "/") {
		n := endOfPattern(text)
		if n < 0 {
			return "", "", c.Usage("cannot read %s: a /REGEXP/ has no end", wording.ShellWord(text))
		}
		first, rest = text[:n], text[n:]
	} else if n := strings.IndexByte(text, ','); n >= 0 {
		first, rest = text[:n], text[n:]
	} else {
		first, rest = text, ""
	}
	last, ok := strings.CutPrefix(rest, ",")
	if !ok && rest != "" || strings.HasPrefix(first, ":") || first == "" && last == "" {
		return "", "", c.Usage("cannot read %s: want START,END", wording.ShellWord(text))
	}
	return first, last, nil
}

// endOfPattern returns the length of /REGEXP/ at the beginning of a text, -1 if it has no end.
func endOfPattern(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '/':
			return i + 1
		}
	}
	return -1
}

// rangeEnd returns the line that one end of a range names. A search begins after a line.
func (c *commands) rangeEnd(text string, lines []session.BlameLine, after int) (int, error) {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n, nil
	}
	if len(text) < 2 || text[0] != '/' || endOfPattern(text) != len(text) {
		return 0, c.Usage("cannot read %s: want a line number from 1 or /REGEXP/", wording.ShellWord(text))
	}
	re, err := regexp.Compile(strings.ReplaceAll(text[1:len(text)-1], `\/`, "/"))
	if err != nil {
		return 0, c.Usage("cannot read %s: %v", wording.ShellWord(text), err)
	}
	for _, l := range lines[min(after, len(lines)):] {
		if re.MatchString(l.Text) {
			return l.Line, nil
		}
	}
	return 0, c.Usage("finds no line with %s after line %d", wording.ShellWord(text), after)
}
