package wording

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Visible makes the control characters of a text visible, as less does: a terminal would obey them.
// Tabs stay. So do bytes that are no UTF-8, but for those that mean control characters in Latin-1.
func Visible(text string) string {
	if !strings.ContainsFunc(text, isObeyed) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		raw := text[i : i+size]
		switch i += size; {
		case r == utf8.RuneError && size == 1 && IsC1(rune(raw[0])):
			fmt.Fprintf(&b, "<%02X>", raw[0])
		case IsC1(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		case isASCIIControl(r):
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

// isObeyed reports whether a terminal may obey a character. Bytes that are no UTF-8 count.
func isObeyed(r rune) bool { return isASCIIControl(r) || IsC1(r) || r == utf8.RuneError }

func isASCIIControl(r rune) bool { return r < 0x20 && r != '\t' || r == 0x7f }
