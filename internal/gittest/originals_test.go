package gittest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestOriginals: the original is made once, a copy has its files, modes and empty directories, and
// shares nothing with the next one.
func TestOriginals(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{"a": gittest.File("1"), "x": gittest.Exec("2"), "d/e": gittest.Dir(), "d/f": gittest.File("")}
	var originals gittest.Originals
	made := 0
	fill := func(dir string) { made++; gittest.Create(t, dir, tree) }
	top := t.TempDir()
	for i, name := range []string{"one", "two"} {
		dir := filepath.Join(top, name)
		originals.Copy(t, dir, "tree", fill)
		gittest.AssertTree(t, dir, tree)
		if err := os.WriteFile(filepath.Join(dir, "a"), []byte("other"), 0o644); err != nil {
			t.Fatal(err)
		}
		if made != 1 {
			t.Errorf("copy %d: made %d times", i, made)
		}
	}
	beside := filepath.Join(top, "beside")
	if err := os.MkdirAll(filepath.Join(beside, "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	originals.Copy(t, beside, "empty", func(dir string) { made++; gittest.Create(t, dir, nil) })
	originals.Copy(t, beside, "tree", fill)
	if _, err := os.Stat(filepath.Join(beside, "mine")); err != nil || made != 2 {
		t.Errorf("made %d times, %v", made, err)
	}
}
