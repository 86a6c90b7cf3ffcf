package wording

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Visible makes the control characters of a text visible, as less does: a terminal would obey them.
// Tabs stay. So do bytes that are no UTF-8, but for those that mean control characters in Latin-1.
func Visible(text string) string {
	return shown(text, func(r rune) bool { return isASCIIControl(r) || isHigh(r) })
}

// VisibleHigh is Visible for a text with the program's own colours and lines: control characters of
// ASCII stay.
func VisibleHigh(text string) string { return shown(text, isHigh) }

// shown makes those characters visible that unseen names. Bytes that are no UTF-8 count as such.
func shown(text string, unseen func(rune) bool) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return unseen(r) || r == utf8.RuneError }) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		raw := text[i : i+size]
		switch i += size; {
		case r == utf8.RuneError && size == 1 && IsC1(rune(raw[0])):
			fmt.Fprintf(&b, "<%02X>", raw[0])
		case isHigh(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		case unseen(r):
			b.WriteByte('^')
			b.WriteByte(raw[0] ^ 0x40)
		default:
			b.WriteString(raw)
		}
	}
	return b.String()
}

// VisibleLines is Visible for each line. The lines keep their ends.
func VisibleLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		whole := strings.TrimRight(line, "\r\n")
		b.WriteString(Visible(whole))
		b.WriteString(line[len(whole):])
	}
	return b.String()
}

// isHigh reports whether a character beyond ASCII changes what a terminal shows of others.
func isHigh(r rune) bool { return IsC1(r) || IsBidi(r) }

func isASCIIControl(r rune) bool { return r < 0x20 && r != '\t' || r == 0x7f }
