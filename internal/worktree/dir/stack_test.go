package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func succeed(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writeFiles makes files that hold their own paths, and the directories above them.
func writeFiles(t testing.TB, root string, paths ...string) {
	t.Helper()
	for _, path := range paths {
		at := filepath.Join(root, filepath.FromSlash(path))
		succeed(t, os.MkdirAll(filepath.Dir(at), 0o755))
		succeed(t, os.WriteFile(at, []byte(path), 0o644))
	}
}

func TestCommonPath(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b, want string
	}{
		{"", "", ""}, {"a", "", ""}, {"a", "a", "a"}, {"a", "b", ""}, {"a", "ab", ""}, {"a/b", "a/bc", "a"}, {"a/b", "a", "a"},
		{"a/b/c", "a/b", "a/b"}, {"a/b/c", "a/x/c", "a"}, {"ab/c", "a/c", ""}, {"a/b", "a/b/c/d", "a/b"},
	} {
		if got := tc.a[:CommonPath(tc.a, tc.b)]; got != tc.want {
			t.Errorf("common path of %q and %q: %q, want %q", tc.a, tc.b, got, tc.want)
		}
		if got := tc.b[:CommonPath(tc.b, tc.a)]; got != tc.want {
			t.Errorf("common path of %q and %q: %q, want %q", tc.b, tc.a, got, tc.want)
		}
	}
}

func TestOpenChildOpensOnlyDirectories(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFiles(t, root, "dir/f", "file")
	for name, target := range map[string]string{"inside": "dir", "dangling": "nowhere", "loop": "loop", "up": ".."} {
		if err := gittest.Symlink(target, filepath.Join(root, name)); errors.Is(err, gittest.ErrNoLinks) {
			t.Skip(err)
		} else {
			succeed(t, err)
		}
	}
	top, err := os.OpenRoot(root)
	succeed(t, err)
	defer top.Close()
	for _, name := range []string{"file", "inside", "dangling", "loop", "up"} {
		if r, _, err := openChild(top, name); !errors.Is(err, ErrChanged) {
			t.Errorf("open %q: %v, %v", name, r, err)
		}
	}
	if _, _, err := openChild(top, "absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open nothing: %v", err)
	}
	r, _, err := openChild(top, "dir")
	succeed(t, err)
	defer r.Close()
	if _, err := r.Lstat("f"); err != nil {
		t.Error(err)
	}
}

// TestStackOpensUpperLevelsAgain goes down more names than stay open, then to
// places whose handles are closed.
func TestStackOpensUpperLevelsAgain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const depth = 3 * MaxOpen
	deep := strings.TrimSuffix(strings.Repeat("d/", depth), "/")
	succeed(t, os.MkdirAll(filepath.Join(root, deep), 0o755))
	for _, n := range []int{1, MaxOpen, MaxOpen + 1, 2 * MaxOpen, depth} {
		succeed(t, os.WriteFile(filepath.Join(root, deep[:2*n-1], "mark"), fmt.Append(nil, n), 0o644))
	}
	top, err := os.OpenRoot(root)
	succeed(t, err)
	defer top.Close()
	s := NewStack(top, nil)
	defer s.Close()
	for _, n := range []int{depth, 1, depth, 2 * MaxOpen, MaxOpen + 1, MaxOpen, depth, depth, 1} {
		r, err := s.Enter(deep[:2*n-1], nil)
		succeed(t, err)
		if got, err := r.ReadFile("mark"); string(got) != fmt.Sprint(n) {
			t.Errorf("at level %d: mark %q, %v", n, got, err)
		}
		open := 0
		for _, l := range s.levels {
			if l.root != nil {
				open++
			}
		}
		if len(s.levels) != n || open > MaxOpen+1 {
			t.Errorf("at level %d: %d levels, %d of them open", n, len(s.levels), open)
		}
	}
}

// TestStackKeepsHeldHandles: a held handle stays open until its release, and no longer.
func TestStackKeepsHeldHandles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	succeed(t, os.MkdirAll(filepath.Join(root, "a", "b"), 0o755))
	succeed(t, os.Mkdir(filepath.Join(root, "c"), 0o755))
	top, err := os.OpenRoot(root)
	succeed(t, err)
	defer top.Close()
	s := NewStack(top, nil)
	b, err := s.Enter("a/b", nil)
	succeed(t, err)
	s.Hold(b)
	s.Hold(top)
	c, err := s.Enter("c", nil)
	succeed(t, err)
	s.Hold(c)
	if _, err := b.Stat("."); err != nil {
		t.Errorf("held, but closed: %v", err)
	}
	s.Release()
	if _, err := b.Stat("."); err == nil {
		t.Error("released and left, but open")
	}
	for _, r := range []*os.Root{top, c} {
		if _, err := r.Stat("."); err != nil {
			t.Errorf("released, but still in use: %v", err)
		}
	}
	s.Close()
	if _, err := c.Stat("."); err == nil {
		t.Error("left, but open")
	}
}
