package wording

import "unicode"

// wide are the characters that a terminal shows in two columns: those of East Asian scripts, and
// pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x23e9, 0x23ec, 1}, {0x25fd, 0x25fe, 1}, {0x2614, 0x2615, 1},
		{0x2648, 0x2653, 1}, {0x26aa, 0x26ab, 1}, {0x26bd, 0x26be, 1}, {0x26c4, 0x26c5, 1}, {0x26f2, 0x26f3, 1},
		{0x2705, 0x2705, 1}, {0x270a, 0x270b, 1}, {0x2728, 0x2728, 1}, {0x274c, 0x274c, 1}, {0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1}, {0x2795, 0x2797, 1}, {0x2b1b, 0x2b1c, 1}, {0x2b50, 0x2b50, 1}, {0x2e80, 0x303e, 1},
		{0x3041, 0xa4cf, 1}, {0xa960, 0xa97c, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1},
		{0xff01, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{{0x16fe0, 0x18cff, 1}, {0x1aff0, 0x1b2ff, 1}, {0x1f18e, 0x1f19a, 1}, {0x1f200, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f7e0, 0x1f7eb, 1}, {0x1f900, 0x1faff, 1}, {0x20000, 0x3fffd, 1}},
}

// columnsOf is the number of columns of a printable character.
func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// Columns is the number of columns that a terminal needs for a text of printable characters.
func Columns(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

// cut returns the beginning of a text that fits into a number of columns. A mark stays with the
// character that it belongs to.
func cut(text string, columns int) string {
	n := 0
	for i, r := range text {
		if n += columnsOf(r); n > columns {
			return text[:i]
		}
	}
	return text
}

// tail returns the end of a text that fits into a number of columns. An ellipsis stands for the
// rest.
func tail(text string, columns int) string {
	if Columns(text) <= columns {
		return text
	}
	runes := []rune(text)
	for n := 1; len(runes) > 0 && n+Columns(string(runes)) > columns; {
		runes = runes[1:]
	}
	for len(runes) > 0 && columnsOf(runes[0]) == 0 {
		runes = runes[1:]
	}
	return "…" + string(runes)
}
