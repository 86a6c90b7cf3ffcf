package apply

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// unsafePaths are refused on every system.
var unsafePaths = []string{
	"", "/", "/etc/passwd", "a/", "/a", "a//b", ".", "..", "./a", "../x", "a/..", "a/../b", "a/./b", "../../x",
	".git", ".git/config", "a/.git/x", ".GIT/config", ".Git", "GIT~1", "git~1/x", ".git ", ".git.", ".git. .", ".git::$INDEX_ALLOCATION",
	".g\u200cit", ".git\u200e/x", "\ufeff.git", ".gi\u206at", `.git\x`, "a\x00b", "a/\x00",
	".cairn-t0-1.tmp", "a/.cairn-x-0.tmp/b",
}

// safePaths are written on every system but Windows, and there where plain.
var safePaths = map[string]bool{
	"a": true, "a/b/c": true, ".gitignore": true, ".github/x": true, "git": true, "...": false, "..a": true, "a..b": true,
	" a": true, "a ": false, "a.": false, "d:/x": false, "a:b": false, `a\b`: false, `..\x`: false, "a\nb": false, "a\tb": false,
	`"q"`: false, "\xff\xfe": false, "con": false, "CON.txt": false, "aux.c/x": false, "com1": false, "COM¹": false, "com10": true,
	"lpt9.tar.gz": false, "nul ": false, "conin$": false, "console": true, "a?": false, "*": false,
	"-": true, "~": true, "caf\u00e9": true, ".cairn-t0-1": true, ".cairn-.tmp": true,
	strings.Repeat("x", 255): true,
}

func TestCheckPath(t *testing.T) {
	t.Parallel()
	for _, path := range unsafePaths {
		if err := CheckPath(path); !errors.Is(err, ErrUnsafePath) {
			t.Errorf("CheckPath(%q) = %v, want ErrUnsafePath", path, err)
		}
	}
	for path, windows := range safePaths {
		if err := CheckPath(path); (err == nil) != (windows || runtime.GOOS != "windows") {
			t.Errorf("CheckPath(%q) = %v", path, err)
		}
		plain := true
		for name := range strings.SplitSeq(path, "/") {
			plain = plain && windowsName(name)
		}
		if plain != windows {
			t.Errorf("%q is plain on Windows: %t", path, plain)
		}
	}
}

// FuzzSafePath checks that what passes cannot leave the root or reach a repository.
func FuzzSafePath(f *testing.F) {
	for _, path := range unsafePaths {
		f.Add(path)
	}
	for path := range safePaths {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if CheckPath(path) != nil {
			return
		}
		if !filepath.IsLocal(path) || filepath.ToSlash(filepath.Clean(path)) != path {
			t.Errorf("%q is not plainly below the root", path)
		}
		for name := range strings.SplitSeq(path, "/") {
			if object.IsDotGit(name) || dir.IsTempName(name) || strings.ContainsRune(name, 0) {
				t.Errorf("%q has the name %q", path, name)
			}
		}
	})
}
