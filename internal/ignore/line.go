package ignore

import (
	"iter"
	"strings"
)

const byteOrderMark = "\xef\xbb\xbf"

// lines yields the patterns of a rule file: its lines without comments, line ends,
// trailing blanks and what follows a NUL. The last line need not end in a newline.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		text = strings.TrimPrefix(text, byteOrderMark)
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, "#") {
				continue
			}
			line, _, _ = strings.Cut(strings.TrimSuffix(line, "\r"), "\x00")
			line = trimBlanks(line)
			if line != "" && !yield(line) {
				return
			}
		}
	}
}

// trimBlanks removes the spaces at the end of a line, except one behind a backslash
// that is not escaped itself. Tabs stay.
func trimBlanks(line string) string {
	end := 0 // behind the last byte that counts
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = i + 1
	}
	return line[:min(end, len(line))]
}
