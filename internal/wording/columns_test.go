package wording

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestColumns: a text is cut by the columns that a terminal needs, never within a character, and a
// mark stays with its character.
func TestColumns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "abc": 3, "漢字": 4, "e\u0301": 1, "한글": 4, "🙂": 2, "ｱ": 1, "é": 1} {
		if got := Columns(text); got != want {
			t.Errorf("%q has %d columns, want %d", text, got, want)
		}
	}
	for _, test := range []struct {
		text  string
		width int
		want  string
	}{
		{"漢字漢字", 8, "漢字漢字"},
		{"漢字漢字", 7, "漢字漢…"},
		{"漢字漢字", 6, "漢字…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"\x1b[31mred\x07", 20, " [31mred"},
		{"bad \xff byte", 20, "bad \ufffd byte"},
		{"right \u202e left", 20, "right   left"},
	} {
		if got := FirstLine(test.text, test.width); got != test.want {
			t.Errorf("%q in %d columns is %q, want %q", test.text, test.width, got, test.want)
		}
	}
	text := strings.Repeat("a漢e\u0301🙂", 5)
	for width := range 40 {
		for _, got := range []string{FirstLine(text, width), tail(text, max(1, width))} {
			if !utf8.ValidString(got) || Columns(got) > max(1, width) {
				t.Errorf("%d columns: %q", width, got)
			}
		}
	}
}
