package blame

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestBlameThroughALink: a path behind a symlink is none of the root, as for all other commands. The file behind it is
// captured under another path, or lies outside.
func TestBlameThroughALink(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root, outside := filepath.Join(base, "root"), filepath.Join(base, "outside")
	err := errors.Join(
		os.MkdirAll(filepath.Join(root, "dir", "sub"), 0o700), os.Mkdir(outside, 0o700),
		os.WriteFile(filepath.Join(root, "dir", "sub", "f"), []byte("x\n"), 0o600),
		os.WriteFile(filepath.Join(outside, "f"), []byte("x\n"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink("dir", filepath.Join(root, "link")), os.Symlink(outside, filepath.Join(root, "out"))); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{"dir/sub/f": "x\n", "link": "dir", "link/sub/f": "", "out/f": "", "link/none": ""} {
		got, err := readDisk(root, path)
		if err != nil || (got == nil) != (want == "") || got != nil && string(*got) != want {
			t.Errorf("%s: %v, %v; want %q", path, got, err, want)
		}
	}
}
