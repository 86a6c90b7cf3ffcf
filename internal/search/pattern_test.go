package search

import (
	"reflect"
	"testing"
)

// TestFindAllIndex: matches that begin and end at borders of words, in each line from left to right.
func TestFindAllIndex(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, line string
		want          [][]int
	}{
		{"foo", "foo xfoo foo", [][]int{{0, 3}, {9, 12}}},
		{"^foo", "foo foo", [][]int{{0, 3}}},
		{"f.*", "af foo", [][]int{{3, 6}}},
		{"foo", "foobar", nil},
		{"x*", "foo", nil},
	} {
		p, err := ParsePattern(c.pattern, PatternOptions{Word: true})
		if err != nil {
			t.Fatal(err)
		}
		line := []byte(c.line)
		if got := p.FindAllIndex(line, -1); !reflect.DeepEqual(got, c.want) || p.Match(line) != (got != nil) {
			t.Errorf("%q in %q: %v, want %v", c.pattern, c.line, got, c.want)
		}
	}
}
