package wording

import "testing"

func TestSlips(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "undo", 4}, {"undo", "undo", 0}, {"udno", "undo", 1}, {"undoo", "undo", 1}, {"und", "undo", 1}, {"unda", "undo", 1},
		{"redo", "undo", 2}, {"ca", "abc", 3},
	} {
		if got := Slips(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Slips(c.b, c.a); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"undo", "redo", "gc", "restore"}
	for text, want := range map[string]string{"udno": "undo", "rdo": "redo", "xx": "", "restroe": "restore", "gcc": "gc", "frobnicate": ""} {
		if got := Nearest(text, words, 2); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
