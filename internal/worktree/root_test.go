package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// errorsCause is the innermost error.
func errorsCause(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

func TestCommonPath(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b, want string
	}{
		{"", "", ""}, {"a", "", ""}, {"a", "a", "a"}, {"a", "b", ""}, {"a", "ab", ""}, {"a/b", "a/bc", "a"}, {"a/b", "a", "a"},
		{"a/b/c", "a/b", "a/b"}, {"a/b/c", "a/x/c", "a"}, {"ab/c", "a/c", ""}, {"a/b", "a/b/c/d", "a/b"},
	} {
		if got := tc.a[:commonPath(tc.a, tc.b)]; got != tc.want {
			t.Errorf("common path of %q and %q: %q, want %q", tc.a, tc.b, got, tc.want)
		}
		if got := tc.b[:commonPath(tc.b, tc.a)]; got != tc.want {
			t.Errorf("common path of %q and %q: %q, want %q", tc.b, tc.a, got, tc.want)
		}
	}
}

func TestDescendOnlyIntoDirectories(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	applyTree{"dir/f": aFile("x"), "file": aFile("x"), "inside": aLink("dir"), "dangling": aLink("nowhere"), "loop": aLink("loop"), "up": aLink("..")}.build(t, root)
	top, err := os.OpenRoot(root)
	must(t, err)
	defer top.Close()
	for _, name := range []string{"file", "inside", "dangling", "loop", "up"} {
		if r, _, err := descend(top, name); !errors.Is(err, ErrChanged) {
			t.Errorf("descend into %q: %v, %v", name, r, err)
		}
	}
	if _, _, err := descend(top, "absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("descend into nothing: %v", err)
	}
	r, _, err := descend(top, "dir")
	must(t, err)
	defer r.Close()
	if _, err := r.Lstat("f"); err != nil {
		t.Error(err)
	}
}

// TestRootStackOpensUpperLevelsAgain goes down more names than stay open, then to
// places whose handles are closed.
func TestRootStackOpensUpperLevelsAgain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const depth = 3 * rootsOpen
	deep := strings.TrimSuffix(strings.Repeat("d/", depth), "/")
	must(t, os.MkdirAll(filepath.Join(root, deep), 0o755))
	for _, n := range []int{1, rootsOpen, rootsOpen + 1, 2 * rootsOpen, depth} {
		must(t, os.WriteFile(filepath.Join(root, deep[:2*n-1], "mark"), fmt.Append(nil, n), 0o644))
	}
	top, err := os.OpenRoot(root)
	must(t, err)
	defer top.Close()
	s := rootStack{top: top}
	defer s.close()
	for _, n := range []int{depth, 1, depth, 2 * rootsOpen, rootsOpen + 1, rootsOpen, depth, depth, 1} {
		r, err := s.enter(deep[:2*n-1], nil)
		must(t, err)
		if got, err := r.ReadFile("mark"); string(got) != fmt.Sprint(n) {
			t.Errorf("at level %d: mark %q, %v", n, got, err)
		}
		open := 0
		for _, l := range s.levels {
			if l.root != nil {
				open++
			}
		}
		if len(s.levels) != n || open > rootsOpen+1 {
			t.Errorf("at level %d: %d levels, %d of them open", n, len(s.levels), open)
		}
	}
}
