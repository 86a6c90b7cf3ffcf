package wording

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// IsControl reports whether r is a control character of ASCII.
func IsControl(r rune) bool { return r < 0x20 || r == 0x7f }

// IsC1 reports whether r is a control character of the second half of Latin-1.
func IsC1(r rune) bool { return r >= 0x80 && r < 0xa0 }

// IsBidi reports whether r changes the direction of the text after it: a terminal or an editor then shows
// the characters in another order.
func IsBidi(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// Printable replaces control characters by C's escapes, byte by byte. Those of C1 count, which some
// terminals obey, and those of direction.
func Printable(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return IsControl(r) || isHigh(r) }) {
		return text
	}
	const letters = "abtnvfr"
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		raw := text[i : i+size]
		switch i += size; {
		case r >= '\a' && r <= '\r':
			b.WriteByte('\\')
			b.WriteByte(letters[r-'\a'])
		case IsControl(r), isHigh(r):
			for _, c := range []byte(raw) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		default:
			b.WriteString(raw)
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
	case strings.ContainsFunc(word, func(r rune) bool { return IsControl(r) || isHigh(r) }):
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
