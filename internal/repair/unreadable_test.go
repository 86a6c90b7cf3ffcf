package repair

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestUnreadable: files that the user may not read are named, and no repair takes them for damage.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("every file can be read here")
	}
	p := newPatient(t)
	p.track(files{"a": whole("a")})
	want := p.refs()
	var paths []string
	for _, pattern := range []string{"refs/cairn/tracks/*", "refs/cairn/tracks", "objects/pack/*.idx", "objects/pack", "cairn/version"} {
		found, err := filepath.Glob(filepath.Join(p.DB.Dir(), filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	if len(paths) < 4 {
		t.Fatalf("only %q", paths)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		for _, fix := range []bool{false, true} {
			found, err := p.Check(t.Context(), CheckOptions{Fix: fix})
			if err != nil || len(found) != 1 || found[0].Kind != "store" || string(found[0].Path) != path || found[0].Fixed {
				t.Errorf("%s, fix %v: %+v, %v", path, fix, found, err)
			}
		}
		if err := os.Chmod(path, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
		if got := p.refs(); !maps.Equal(got, want) {
			t.Fatalf("%s: refs %v, want %v", path, got, want)
		}
		if found := p.check(CheckOptions{}); len(found) > 0 {
			t.Fatalf("%s: then %+v", path, found)
		}
	}
}
