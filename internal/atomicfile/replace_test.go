package atomicfile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Replace puts a file in the place of another or of none, and of no directory that
// holds something.
func TestReplace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(path string) error
		fails   bool
	}{
		"nothing":        {prepare: func(string) error { return nil }},
		"file":           {prepare: func(path string) error { return os.WriteFile(path, []byte("old"), 0o600) }},
		"link":           {prepare: func(path string) error { return os.Symlink("elsewhere", path) }},
		"full directory": {prepare: func(path string) error { return os.MkdirAll(filepath.Join(path, "sub"), 0o700) }, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "path")
			if err := os.WriteFile(temp, []byte("new"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := c.prepare(path); err != nil {
				t.Skipf("cannot be had here: %v", err)
			}
			left, err := Replace(temp, path)
			if left {
				if old, rerr := os.ReadFile(temp); rerr != nil || string(old) != "old" {
					t.Fatalf("left %q, %v", old, rerr)
				}
				os.Remove(temp)
			}
			if c.fails {
				if info, serr := os.Stat(filepath.Join(path, "sub")); err == nil || serr != nil || !info.IsDir() {
					t.Fatalf("%v, %v", err, serr)
				}
				return
			}
			got, rerr := os.ReadFile(path)
			if err != nil || rerr != nil || string(got) != "new" || !slices.Equal(names(t, dir), []string{"path"}) {
				t.Fatalf("%v, %v, %q in %q", err, rerr, got, names(t, dir))
			}
		})
	}
}
