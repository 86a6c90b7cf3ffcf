package gittest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestCreateAndManifest(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permission bits, FIFOs and names as on Unix")
	}
	root := filepath.Join(t.TempDir(), "deep", "root")
	tree := gittest.Tree{
		"a":            gittest.File("one\n"),
		"a-b":          gittest.Exec("#!/bin/sh\n"),
		"d/e/f":        gittest.FileMode("", 0o600),
		"d/suid":       gittest.FileMode("x", 0o4755),
		"empty":        gittest.Dir(),
		"locked":       gittest.DirMode(0o500),
		"locked/in":    gittest.File("in"),
		"new\nline\t ": gittest.File("nasty"),
		"link":         gittest.Link("a"),
		"dangling":     gittest.Link("no/where\n"),
		"pipe":         gittest.FIFO(),
		"sticky":       gittest.DirMode(0o1777),
	}
	gittest.Create(t, root, tree)
	gittest.AssertTree(t, root, tree)

	list := gittest.Manifest(t, root)
	for path, want := range map[string]string{
		"a":      `f 0644 4 bytes 2c8b08da5ce6`,
		"a-b":    `f 0755 10 bytes`,
		"d":      `d 0755`,
		"d/e/f":  `f 0600 0 bytes e3b0c44298fc`,
		"d/suid": `f 4755 1 bytes`,
		"link":   `l 0000 -> "a"`,
		"locked": `d 0500`,
		"pipe":   `p 0644`,
		"sticky": `d 1777`,
	} {
		if got := list[path].String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if len(list) != len(tree)+2 { // d and d/e
		t.Errorf("listed %d paths, want %d", len(list), len(tree)+2)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gittest.Create(t, root, gittest.Tree{
		"same": gittest.File("s"), "edited": gittest.File("1"), "gone": gittest.File("g"), "typed": gittest.File("t"),
		".git/HEAD": gittest.File("ref"), "sub/.git": gittest.File("gitdir: x"),
	})
	before := gittest.Manifest(t, root)
	if diff := gittest.Diff(before, gittest.Manifest(t, root)); diff != "" {
		t.Errorf("nothing changed, but:\n%s", diff)
	}
	for _, err := range []error{
		os.WriteFile(filepath.Join(root, "edited"), []byte("2"), 0),
		os.Remove(filepath.Join(root, "gone")),
		os.Remove(filepath.Join(root, "typed")),
		os.Mkdir(filepath.Join(root, "typed"), 0o755),
		os.WriteFile(filepath.Join(root, "new\xff"), nil, 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got := gittest.Diff(before, gittest.Manifest(t, root))
	for _, want := range []string{`! "edited": f 0644 1 bytes 6b86b273ff34, now f 0644 1 bytes d4735e3a265e`, `- "gone": `, `! "typed": `, `+ "new\xff": `} {
		if !strings.Contains(got, want) {
			t.Errorf("diff lacks %s:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n"); n != 4 {
		t.Errorf("diff has %d lines, want 4:\n%s", n, got)
	}
	if list := gittest.Manifest(t, root, gittest.SkipGit); len(list) != len(before)-2 || list["sub/.git"].Type != 'f' {
		t.Errorf("without .git at the top: %v", list)
	}
}

func TestManifestTimes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gittest.Create(t, root, gittest.Tree{"d/f": gittest.File("x")})
	path := filepath.Join(root, "d", "f")
	before, plain := gittest.Manifest(t, root, gittest.WantTimes), gittest.Manifest(t, root)
	later := time.Unix(0, before["d/f"].MTime).Add(time.Second)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if diff := gittest.Diff(before, gittest.Manifest(t, root, gittest.WantTimes)); !strings.HasPrefix(diff, `! "d/f"`) {
		t.Errorf("a touched file: %q", diff)
	}
	if diff := gittest.Diff(plain, gittest.Manifest(t, root)); diff != "" {
		t.Errorf("times were not asked for: %q", diff)
	}
	if e := gittest.Manifest(t, root, gittest.WantTimes)["d"]; e.MTime != 0 {
		t.Errorf("time of a directory: %v", e)
	}
	if e := gittest.Manifest(t, root, gittest.WantDirTimes)["d"]; e.MTime == 0 {
		t.Errorf("no time of a directory: %v", e)
	}
}

// recorder stands in for a test that is expected to fail.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.failure += fmt.Sprintf(format, args...) }

func TestAssertTreeFails(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gittest.Create(t, root, gittest.Tree{"a/b": gittest.File("x"), "c": gittest.Exec("y")})
	for name, tree := range map[string]gittest.Tree{
		"content": {"a/b": gittest.File("X"), "c": gittest.Exec("y")},
		"mode":    {"a/b": gittest.File("x"), "c": gittest.File("y")},
		"missing": {"a/b": gittest.File("x"), "c": gittest.Exec("y"), "d": gittest.Dir()},
		"extra":   {"a/b": gittest.File("x")},
		"type":    {"a/b": gittest.Link("x"), "c": gittest.Exec("y")},
	} {
		r := &recorder{TB: t}
		gittest.AssertTree(r, root, tree)
		if !strings.Contains(r.failure, "differs") {
			t.Errorf("%s: not noticed", name)
		}
	}
}

// TestCopyTree: the copy takes the place of what was there, and is the same.
func TestCopyTree(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	gittest.Create(t, from, gittest.Tree{"a": gittest.File("a"), "run": gittest.Exec("x"), "d/link": gittest.Link("../a"), "shut": gittest.DirMode(0o700)})
	gittest.Create(t, to, gittest.Tree{"other": gittest.File("other")})
	gittest.CopyTree(t, from, to)
	gittest.AssertEqual(t, "the copy", gittest.Manifest(t, from), gittest.Manifest(t, to))
}
