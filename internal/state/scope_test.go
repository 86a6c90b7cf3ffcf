package state

import (
	"slices"
	"testing"
)

// A scope drops paths that lie below others and repeated ones.
func TestPathScopeOfPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want []string }{
		{nil, nil},
		{[]string{"b", "a", "b"}, []string{"a", "b"}},
		{[]string{"a/b", "a"}, []string{"a"}},
		{[]string{"a/b", "a.b", "a"}, []string{"a", "a.b"}}, // '.' sorts before '/'
		{[]string{"a", ""}, []string{""}},
	} {
		if got := NewPathScope(c.in); !slices.Equal(got.Paths, c.want) {
			t.Errorf("scope of %q is %q, want %q", c.in, got.Paths, c.want)
		}
	}
}

func TestPathScopeCovers(t *testing.T) {
	t.Parallel()
	scope := NewPathScope([]string{"a", "d/e"}).WithAlone([]string{"z", "d"})
	for path, want := range map[string]bool{
		"a": true, "a/b": true, "a/b/c": true, "ab": false, "a.b": false, "": false,
		"d": true, "d/e": true, "d/e/f": true, "d/x": false, "z": true, "z/y": false,
	} {
		if got := scope.Covers(path); got != want {
			t.Errorf("covers %q: %v, want %v", path, got, want)
		}
	}
	if named := scope.Named(); !slices.Equal(named, []string{"a", "d/e", "d", "z"}) {
		t.Errorf("names %q", named)
	}
	for path, want := range map[string]bool{"a": true, "d/e": true, "z": false, "a/b": false, "d": false} {
		if got := scope.NamesExactly(path); got != want {
			t.Errorf("names %q: %v, want %v", path, got, want)
		}
	}
}

// Leads tells which directories a walk has to enter: skipping one of these would lose paths.
func TestPathScopeLeads(t *testing.T) {
	t.Parallel()
	scope := NewPathScope([]string{"d/e/f", "long/name", "x"}).WithAlone([]string{"p/q"})
	for dir, want := range map[string]bool{
		"d": true, "d/e": true, "d/e/f": true, "d/e/f/g": true, "d/x": false, "d/e.f": false, "x": true, "x/y": true, "p": true, "p/q": true, "p/q/r": false, "q": false, "long": true, "lo": false,
	} {
		if got := scope.Leads(dir); got != want {
			t.Errorf("leads into %q: %v, want %v", dir, got, want)
		}
	}
}

// A nil scope selects every path and names none.
func TestPathScopeOfNone(t *testing.T) {
	t.Parallel()
	var all *PathScope
	if !all.Covers("a/b") || !all.Leads("a") || all.NamesExactly("a") {
		t.Error("a nil scope is no scope of all")
	}
	if none := NewPathScope(nil); none.Covers("a") || none.Covers("") || none.Leads("a") {
		t.Error("a scope of no path selects one")
	}
}
