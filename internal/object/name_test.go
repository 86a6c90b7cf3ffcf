package object_test

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

func TestIsDotGit(t *testing.T) {
	t.Parallel()
	ignored := "\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"
	for name, list := range map[string][]string{
		"plain":      {".git", ".GIT", ".Git", ".gIt", ".giT"},
		"short name": {"git~1", "GIT~1", "Git~1"},
		"what Windows drops": {
			".git ", ".git.", ".git . .", ".git   ", ".GIT...", "git~1 ", "git~1.", "GIT~1 . ",
		},
		"streams":     {".git:", ".git:x", ".git::$INDEX_ALLOCATION", ".git ::$DATA", ".git.:x:y", "git~1:x", `.git:\x`},
		"backslashes": {`.git\`, `.git\x`, `.git\\`, `.git \x`, `git~1\config`, `x\.git`, `\.git`, `a\b\.GIT. \c`, `a\git~1`, `:\.git`},
		"ignored by HFS+": {
			".g\u200cit", ".git\u200d", "\ufeff.git", "\u200e.git", ".\u202eg\u202ai\u206ft\u206a",
			".GI\u200fT", ignored + "." + ignored + "g" + ignored + "i" + ignored + "t" + ignored,
			strings.Repeat("\u200c", 100_000) + ".git" + strings.Repeat("\ufeff", 100_000),
		},
		// For git's fsck such bytes end the name.
		"no UTF-8 behind": {
			".git\xff", ".git\xffx", ".git\xc3", ".git\xe2\x80", ".git\xc0\x80", ".git\xed\xa0\x80",
			".git\xf4\x90\x80\x80", ".git\ufffe", ".git\uffff", ".git\u200c\xff", ".g\u200cit\xff\u200c",
		},
	} {
		for _, n := range list {
			if !object.IsDotGit(n) {
				t.Errorf("%s: %.40q passes", name, n)
			}
			if object.SafeName(n) {
				t.Errorf("%s: %.40q counts as safe", name, n)
			}
		}
	}
}

func TestNamesThatStayAllowed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		".gitignore", ".gitattributes", ".gitmodules", ".github", ".gitx", ".git-x", ".git_", ".git~1", ".git1",
		"git", "GIT", "git~", "git~2", "git~10", "git~1x", "gitx1", "git.git", "x.git", "..git", " .git", "a.git",
		".gi", ".gt", ".g it", ". git", ".git\t", ".git\n", ".git\x01", ".git\u00a0", ".git\u2028",
		".git\u0301", ".g\u0131t", ".\u0261it", "\uff0egit", ".g\u200bit", ".git\ufffd", ".git\u2029", ".g\u2060it", ".git\ufe00",
		"\xff.git", ".g\xffit", ".gi\xff", "\u200c", "\ufeff", "\u200cgit", "\u200cgit~1", "git\u200c~1", "git~\u200c1",
		`x\y`, `\`, `.gi\t`, `.\git`, `.gitx\y`, `x:.git`, ":", "...", "....", ".. ", " ", "-", "~", "con",
		strings.Repeat("\u200c", 100_000) + ".gitx", strings.Repeat(`\`, 100_000), ".git" + strings.Repeat(" ", 100_000) + "x",
	} {
		if object.IsDotGit(name) || !object.SafeName(name) {
			t.Errorf("%.40q is refused", name)
		}
	}
}

func TestSafeNameRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".", "..", "/", "a/", "/a", "a/b", "../a", "a\x00", "\x00", "a\x00b"} {
		if object.SafeName(name) {
			t.Errorf("%q counts as safe", name)
		}
		if object.IsDotGit(name) {
			t.Errorf("%q is unsafe, but no .git", name)
		}
	}
}
