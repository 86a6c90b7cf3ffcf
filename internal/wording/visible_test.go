package wording

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "",
		"a\tb ü 漢":                "a\tb ü 漢",
		"\x1b[31mred\x1b[m\r":     "^[[31mred^[[m^M",
		"\x00\x07\x7f\n":          "^@^G^?^J",
		"\u009b31m":               "<U+009B>31m",
		"\x9b31m \xe4":            "<9B>31m \xe4",
		"\xe4\x9b a":              "\xe4<9B> a",
		"\ufffd stays":            "\ufffd stays",
		"\x1b]8;;http://x\x1b\\ü": "^[]8;;http://x^[\\ü",
		"\u202eab\u2066 \u2070":   "<U+202E>ab<U+2066> \u2070",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestVisibleLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "",
		"a":                       "a",
		"a\n\nb\r\n\x1bc\r":       "a\n\nb\r\n^[c\r",
		"a\rb\n\u009b\n":          "a^Mb\n<U+009B>\n",
		"\r\r\n\n \x07\n\x00\r\n": "\r\r\n\n ^G\n^@\r\n",
	} {
		if got := VisibleLines(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestVisibleHigh: the program's own colours, links and lines stay.
func TestVisibleHigh(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "",
		"\x1b[31mred\x1b[m\r\n\t\x00": "\x1b[31mred\x1b[m\r\n\t\x00",
		"\x1b[m\u009b\u2069\x85 \xe4": "\x1b[m<U+009B><U+2069><85> \xe4",
	} {
		if got := VisibleHigh(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzVisible: no control character is left, but for tabs, and nothing is lost without one.
func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31m\x9b\u009b\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := Visible(text)
		for _, r := range got {
			if isASCIIControl(r) || isHigh(r) {
				t.Errorf("%q: %q", text, got)
			}
		}
		harmless := func(r rune) bool { return !isASCIIControl(r) && !isHigh(r) && r != utf8.RuneError }
		if strings.IndexFunc(text, func(r rune) bool { return !harmless(r) }) < 0 && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
