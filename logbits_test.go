package cairn_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestLogOfBits: a log of paths has the checkpoints that change their permission bits alone, and those that make, change
// or remove a directory without files.
func TestLogOfBits(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("a\n"), "dir/g": gittest.File("1"), "dir/h": gittest.File("2")})
	r := f.repo()
	chmod := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(filepath.Join(f.root, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	trackedAs(t, r, "begin")
	chmod("f", 0o640)
	trackedAs(t, r, "f 640")
	if err := os.Mkdir(filepath.Join(f.root, "e"), 0o755); err != nil {
		t.Fatal(err)
	}
	trackedAs(t, r, "mkdir e")
	chmod("e", 0o700)
	trackedAs(t, r, "e 700")
	chmod("dir/g", 0o600)
	trackedAs(t, r, "g 600")
	chmod("dir", 0o700)
	trackedAs(t, r, "dir 700")
	for _, text := range []string{"2", "3"} {
		f.write("dir/g", text)
		if _, err := r.Track(background, cairn.TrackOptions{Paths: []string{"dir/g"}, OnlyPaths: true, Message: "only g: " + text}); err != nil {
			t.Fatal(err)
		}
	}
	trackedAs(t, r, "nothing")
	if err := os.Remove(filepath.Join(f.root, "e")); err != nil {
		t.Fatal(err)
	}
	trackedAs(t, r, "rmdir e")
	for path, want := range map[string][]string{
		"f": {"f 640", "begin"}, "e": {"rmdir e", "e 700", "mkdir e"}, "dir/g": {"only g: 3", "only g: 2", "g 600", "begin"},
		"dir/h": {"begin"}, "dir": {"nothing", "only g: 3", "only g: 2", "dir 700", "g 600", "begin"}, // h is back with "nothing"
	} {
		var got []string
		for c, err := range r.Log(background, cairn.LogOptions{Paths: []string{path}}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c.Message)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the log of %s is %q, want %q", path, got, want)
		}
	}
}
