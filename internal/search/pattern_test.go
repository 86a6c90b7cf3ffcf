package search

import (
	"slices"
	"testing"
)

func TestSpans(t *testing.T) {
	t.Parallel()
	word := PatternOptions{Word: true}
	for _, c := range []struct {
		pattern, line string
		opt           PatternOptions
		want          [][2]int
	}{
		{"o+", "foo o", PatternOptions{}, [][2]int{{1, 3}, {4, 5}}},
		{"x", "foo", PatternOptions{}, nil},
		{"f*", "foof", PatternOptions{}, [][2]int{{0, 1}}},
		{"x*", "foox", PatternOptions{}, nil},
		{"O", "foo", PatternOptions{IgnoreCase: true}, [][2]int{{1, 2}, {2, 3}}},
		{"foo", "foo xfoo foo", word, [][2]int{{0, 3}, {9, 12}}},
		{"^foo", "foo foo", word, [][2]int{{0, 3}}},
		{"f.*", "af foo", word, [][2]int{{3, 6}}},
		{"", "foo", word, nil},
	} {
		p, err := ParsePattern(c.pattern, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Spans([]byte(c.line)); !slices.Equal(got, c.want) {
			t.Errorf("%q in %q: %v, want %v", c.pattern, c.line, got, c.want)
		}
		if invert := len(c.want) == 0; p.Match([]byte(c.line)) == invert && c.pattern != "" && c.pattern != "x*" {
			t.Errorf("%q in %q matches: %v", c.pattern, c.line, invert)
		}
	}
}
