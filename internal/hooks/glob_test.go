package hooks

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// TestExpanded: a pattern of rm has the matches that filepath.Glob finds, and no more than are looked at.
func TestExpanded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a/x.go", "a/y.go", "a/.hidden", "b/c/x.go", "b/d/z", "ü/x.go", "e"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{"*", "*/*.go", "a/*", "?/[cd]/*", "*/c/x.go", "a/[", "[", "none/*", "*/none", "e/*", "b/*/x.go", "a/x.g?", "*/*/*/*"} {
		path := filepath.Join(dir, filepath.FromSlash(pattern))
		want, err := filepath.Glob(path)
		if err != nil {
			want = nil
		}
		if got := expanded(path, true); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	if got := expanded(filepath.Join(dir, "*"), false); len(got) != 1 {
		t.Errorf("no pattern: %q", got)
	}
	many := filepath.Join(dir, "many")
	for i := range 3 {
		sub := filepath.Join(many, strconv.Itoa(i))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range maxSeen / 2 {
			if err := os.WriteFile(filepath.Join(sub, strconv.Itoa(j)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := expanded(filepath.Join(many, "*", "*"), true); len(got) == 0 || len(got) > maxSeen {
		t.Errorf("%d matches", len(got))
	}
	g := globber{left: 2}
	g.walk(many, []string{"*", "*"})
	if len(g.found) > 0 {
		t.Errorf("after two directories there are %q", g.found)
	}
}
