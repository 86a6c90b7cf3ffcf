package wording

import (
	"slices"
	"testing"
)

func TestV60_Paths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		width int
		paths []string
		total int
		want  string
	}{
		{40, nil, 0, ""},
		{40, []string{"a"}, 1, "a"},
		{40, []string{"a", "b", "c"}, 3, "a, b, c"},
		{40, []string{"a", "b", "c"}, 12, "a, b, c and 9 more"},
		{20, []string{"long/name", "longer/name", "c"}, 3, "long/name and 2 more"},
		{20, []string{"very/long/name/of/a/file", "b"}, 2, "…f/a/file and 1 more"},
		{10, []string{"very/long/name/of/a/file"}, 1, "…of/a/file"},
		{40, []string{"a\x1b[31mb", "c\td"}, 2, "a [31mb, c d"},
	} {
		got := Paths(c.width, c.paths, c.total)
		if got != c.want {
			t.Errorf("%q of %d: %q, want %q", c.paths, c.total, got, c.want)
		}
		if len([]rune(got)) > c.width {
			t.Errorf("%q has more than %d characters", got, c.width)
		}
	}
}

func TestV60_Did(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		calls, paths []string
		total        int
		want         []string
	}{
		{nil, nil, 0, nil},
		{[]string{"Bash: make"}, nil, 0, []string{"Bash: make"}},
		{nil, []string{"a"}, 1, []string{"a"}},
		{[]string{"Edit", "Bash: rm b"}, []string{"a", "b"}, 2, []string{"Edit; Bash: rm b  (a, b)"}},
		{[]string{"Bash: cat <<E\nmore"}, []string{"a"}, 1, []string{"Bash: cat <<E …  (a)"}},
		{[]string{"Bash: go test ./... -run Some"}, []string{"a"}, 9, []string{"Bash: go test ./... -run Some", "a and 8 more"}},
	} {
		if got := Did(30, c.calls, c.paths, c.total); !slices.Equal(got, c.want) {
			t.Errorf("%q %q: %q, want %q", c.calls, c.paths, got, c.want)
		}
	}
}

func TestV60_Wrap(t *testing.T) {
	t.Parallel()
	if got, want := Wrap(8, "ab", "", "cd", "ef", "ghijklmnop", "q"), []string{"ab, cd", "ef", "ghijklmnop", "q"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
