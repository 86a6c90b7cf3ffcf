package wording

import (
	"fmt"
	"strings"
)

// IsControl reports whether r is a control character of ASCII.
func IsControl(r rune) bool { return r < 0x20 || r == 0x7f }

// IsC1 reports whether r is a control character of the second half of Latin-1.
func IsC1(r rune) bool { return r >= 0x80 && r < 0xa0 }

// Printable replaces control characters by C's escapes, byte by byte. Those of C1 count: some
// terminals obey them.
func Printable(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return IsControl(r) || IsC1(r) }) {
		return text
	}
	const letters = "abtnvfr"
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c == 0xc2 && i+1 < len(text) && IsC1(rune(text[i+1])), IsC1(rune(c)) && i > 0 && text[i-1] == 0xc2:
			fmt.Fprintf(&b, `\%03o`, c)
		case c >= '\a' && c <= '\r':
			b.WriteByte('\\')
			b.WriteByte(letters[c-'\a'])
		case IsControl(rune(c)):
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// ShellWord quotes a word for a shell if the shell would read it differently. A word
// with control characters gets the quotes $'...' of bash, zsh and ksh, so that it stays
// on one line.
func ShellWord(word string) string {
	switch {
	case isPlain(word):
		return word
	case strings.ContainsFunc(word, IsControl):
		return "$'" + Printable(strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(word)) + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// isPlain reports whether every shell reads a word as it is.
func isPlain(word string) bool {
	const marks = "@%+=:,./_-"
	for i, r := range word {
		if !('a' <= r|0x20 && r|0x20 <= 'z' && r < 0x80 || '0' <= r && r <= '9' || strings.ContainsRune(marks, r) || r == '~' && i > 0) {
			return false
		}
	}
	return word != ""
}
