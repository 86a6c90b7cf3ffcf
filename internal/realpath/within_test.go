package realpath

import (
	"path/filepath"
	"runtime"
	"testing"
)

// TestWithin: a path below a directory, by names. Volumes are tested where they are.
func TestWithin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{"/a/b", "/a", true}, {"/a", "/a", true}, {"/a/", "/a", true}, {"/a", "/a/", true}, {"/a/b", "/a/", true}, {"/a/b/c", "/a", true},
		{"/ab", "/a", false}, {"/a", "/a/b", false}, {"/b", "/a", false}, {"/a/b", "/a/bc", false},
		{"/", "/", true}, {"/a", "/", true}, {"/", "/a", false},
		{"/a/../b", "/a", false}, {"/a/b/..", "/a", true}, {"/a/./b", "/a", true}, {"/x/../a/b", "/a", true}, {"/a/b", "/x/../a", true},
		{"/a//b", "/a", true}, {"/..", "/", true}, {"/a/../../a/b", "/a", true},
		{"/a/..b", "/a", true}, {"/a/...", "/a", true}, {"/..a", "/", true},
		{"a/b", "a", true}, {"a", ".", true}, {"..", ".", false}, {"../a", ".", false}, {".", ".", true},
		{"", "", false}, {"/a", "", false}, {"", "/a", false}, {"a", "", false},
		{"a", "/", false}, {"/a", "a", false},
		{"/a/\xff/b", "/a/\xff", true}, {"/A/b", "/a", runtime.GOOS == "windows"},
	} {
		if got := Within(filepath.FromSlash(c.path), filepath.FromSlash(c.dir)); got != c.want {
			t.Errorf("%q within %q: %v", c.path, c.dir, got)
		}
	}
	if runtime.GOOS != "windows" {
		return
	}
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{`C:\a\b`, `C:\a`, true}, {`c:\a\b`, `C:\A`, true}, {`C:\a`, `C:\`, true}, {`C:\`, `C:\`, true}, {`D:\a`, `C:\`, false}, {`D:\a`, `C:\a`, false},
		{`C:\a\NUL`, `C:\a`, true}, {`C:/a/b`, `C:\a`, true}, {`\\host\share\a`, `\\host\share`, true}, {`\\host\other\a`, `\\host\share`, false},
		{`C:\ab`, `C:\a`, false}, {`C:\a\..\b`, `C:\a`, false},
	} {
		if got := Within(c.path, c.dir); got != c.want {
			t.Errorf("%q within %q: %v", c.path, c.dir, got)
		}
	}
}
