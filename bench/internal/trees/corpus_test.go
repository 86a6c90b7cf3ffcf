package trees

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/benchtest"
	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
)

// fingerprint is a digest of all that a track sees of a tree, and the files' dates.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %v\n", filepath.ToSlash(rel), info.Mode())
		switch {
		case info.Mode().IsRegular():
			fmt.Fprintf(sum, "%d %x\n", info.ModTime().UnixNano(), sha256.Sum256(benchtest.ReadFile(t, path)))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			fmt.Fprintf(sum, "%q %v\n", target, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func TestSyntheticIsDeterministic(t *testing.T) {
	t.Parallel()
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		if err := NewSynthetic(600, 0).Fill(dir); err != nil {
			t.Fatal(err)
		}
	}
	if one, other := fingerprint(t, a), fingerprint(t, b); one != other {
		t.Errorf("two trees differ: %s and %s", one, other)
	}
}

// The same tree on every machine: figures of two runs can be compared only while this
// digest of names and contents stays as it is.
func TestSyntheticIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the tree has no symlinks on Windows")
	}
	sum := sha256.New()
	dirs, files := NewSynthetic(600, 0).plan()
	fmt.Fprintf(sum, "%q\n", dirs)
	for _, f := range files {
		fmt.Fprintf(sum, "%q %d %q %x\n", f.path, f.kind, f.link, sha256.Sum256(f.content()))
	}
	const want = "d50b20a1b057a08b3cfa206cd3c3c296b0cb352d4e93384a6ab32136452ea34f"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("the tree is %s, it was %s", got, want)
	}
}

// The shape is that of a source tree; see the constants for where it was measured.
func TestSyntheticShape(t *testing.T) {
	t.Parallel()
	const n = 20_000
	dirs, files := NewSynthetic(n, 0).plan()
	if len(files) != n || len(dirs) != n/filesPerDir {
		t.Fatalf("%d files in %d directories", len(files), len(dirs))
	}
	names := make(map[string]bool)
	var bytes, depth, links, ignoreFiles, ignored, deepest int
	for _, f := range files {
		if names[f.path] {
			t.Fatalf("%s is there twice", f.path)
		}
		names[f.path] = true
		bytes += f.size
		depth += strings.Count(f.path, "/")
		deepest = max(deepest, strings.Count(f.path, "/"))
		switch {
		case f.kind == madeSymlink:
			links++
		case f.kind == madeIgnoreFile:
			ignoreFiles++
		case strings.HasSuffix(f.path, ".o"):
			ignored++
		}
	}
	between := func(what string, got, low, high float64) {
		if got < low || got > high {
			t.Errorf("%s: %.2f, not between %v and %v", what, got, low, high)
		}
	}
	between("mean size", float64(bytes)/n, 12_000, 20_000)
	between("mean depth", float64(depth)/n, 3, 6)
	between("deepest", float64(deepest), 8, 9)
	between("ignore files", float64(ignoreFiles), 20, 200)
	between("ignored files", float64(ignored), 300, 700)
	if runtime.GOOS != "windows" {
		between("symlinks", float64(links), 20, 60)
	}
}

// Text compresses about as source code does: Linux 6.1 by 3.5 at level 1.
func TestSyntheticTextCompresses(t *testing.T) {
	t.Parallel()
	_, files := NewSynthetic(500, 0).plan()
	var plain int
	var packed bytes.Buffer
	for _, f := range files {
		if f.kind == madeText {
			w, err := zlib.NewWriterLevel(&packed, 1)
			if err != nil {
				t.Fatal(err)
			}
			content := f.content()
			if len(content) != f.size {
				t.Fatalf("%s has %d bytes, not %d", f.path, len(content), f.size)
			}
			w.Write(content)
			w.Close()
			plain += len(content)
		}
	}
	if ratio := float64(plain) / float64(packed.Len()); ratio < 2.5 || ratio > 5 {
		t.Errorf("text shrinks by %.2f", ratio)
	}
}

func TestCopied(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	benchtest.WriteFile(t, filepath.Join(from, "a", "b.txt"), "text")
	benchtest.WriteFile(t, filepath.Join(from, ".git", "HEAD"), "ref: refs/heads/main")
	benchtest.WriteFile(t, filepath.Join(from, "a", "nested", ".git"), "gitdir: elsewhere")
	benchtest.WriteFile(t, filepath.Join(from, "a", "nested", "c"), "")
	date := time.Unix(1_600_000_000, 0)
	if err := os.Chtimes(filepath.Join(from, "a", "b.txt"), date, date); err != nil {
		t.Fatal(err)
	}
	large, err := os.Create(filepath.Join(from, "large"))
	if err != nil {
		t.Fatal(err)
	}
	if err := large.Truncate(tooLarge + 1); err != nil {
		t.Fatal(err)
	}
	large.Close()
	if runtime.GOOS != "windows" {
		if err := os.Symlink("nowhere", filepath.Join(from, "link")); err != nil {
			t.Fatal(err)
		}
	}
	before := fingerprint(t, from)
	if err := (Copied{"test", from}).Fill(to); err != nil {
		t.Fatal(err)
	}
	if fingerprint(t, from) != before {
		t.Error("the directory was changed")
	}
	for _, gone := range []string{".git", "a/nested/.git", "large"} {
		if err := os.RemoveAll(filepath.Join(from, filepath.FromSlash(gone))); err != nil {
			t.Fatal(err)
		}
	}
	if fingerprint(t, from) != fingerprint(t, to) {
		t.Error("the copy differs in more than .git and the large file")
	}
}

// Debian's own rules would leave nothing of the tree to track.
func TestDebianRulesAreRemoved(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), ".gitignore")
	benchtest.WriteFile(t, file, "*.o\n/*.spec\n# Debian packaging\n/*\n!/debian/\n")
	if err := trackable(file); err != nil {
		t.Fatal(err)
	}
	if got, want := string(benchtest.ReadFile(t, file)), "*.o\n/*.spec\n# Debian packaging\n"; got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
}

// Edits give new contents every time, come back, and are evenly spread.
func TestEdits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := NewSynthetic(400, 0).Fill(dir); err != nil {
		t.Fatal(err)
	}
	_, files := NewSynthetic(400, 0).plan()
	var captured []string
	for _, f := range files {
		captured = append(captured, f.path)
	}
	e, err := ChooseEdits(dir, captured, names.ManyFiles)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Paths) != names.ManyFiles {
		t.Fatalf("%d files to edit", len(e.Paths))
	}
	if err := e.Undone(dir); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, op := range []string{names.OpOne, names.OpMany} {
		for round := range 2 {
			if err := e.Apply(dir, 0, names.ManyFiles, op, round); err != nil {
				t.Fatal(err)
			}
			text := string(benchtest.ReadFile(t, e.File(dir, 7)))
			if seen[text] {
				t.Errorf("%s, round %d gives contents that were there before", op, round)
			}
			seen[text] = true
			if e.Undone(dir) == nil {
				t.Error("edits are not noticed")
			}
		}
	}
	if err := e.Undo(dir); err != nil {
		t.Fatal(err)
	}
	if err := e.Undone(dir); err != nil {
		t.Error(err)
	}
	if _, err := ChooseEdits(dir, nil, names.ManyFiles); err == nil {
		t.Error("no files at all can be edited")
	}
}
