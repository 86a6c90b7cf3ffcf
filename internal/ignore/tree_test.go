package ignore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// walk lists the files below dir that are not ignored, as the scan of a tree does.
func walk(t *testing.T, root, dir string, c *Chain, fold bool) (files []string) {
	t.Helper()
	if text, err := os.ReadFile(filepath.Join(root, dir, ".gitignore")); err == nil {
		c = c.Enter(dir, Parse(text, fold))
	}
	entries, err := os.ReadDir(filepath.Join(root, dir))
	must(t, err)
	for _, e := range entries {
		path := strings.TrimPrefix(dir+"/"+e.Name(), "/")
		switch {
		case path == ".git" || c.Ignored(path, e.IsDir()):
		case e.IsDir():
			files = append(files, walk(t, root, path, c, fold)...)
		default:
			files = append(files, path)
		}
	}
	return files
}

// TestTrees compares the files that git would add with those that a walk finds.
func TestTrees(t *testing.T) {
	t.Parallel()
	needGit(t)
	needAnyName(t)
	paths, left := 0, 0
	for round := range uint64(*trees) {
		for i, g := range []*generator{
			newHard(*seed + 2000 + round), newRealistic(*seed + 2000 + round),
			newHard(*seed + 3000 + round), newRealistic(*seed + 3000 + round),
		} {
			p, l := compareTree(t, g, i >= 2)
			paths, left = paths+p, left+l
		}
	}
	t.Logf("%d of %d paths are files to add", left, paths)
	if left < paths/10 {
		t.Error("the rules are too broad to prove anything")
	}
}

// compareTree compares one tree and returns the number of its paths and of the files
// to add.
func compareTree(t *testing.T, g *generator, fold bool) (all, left int) {
	w, paths := g.world(12, 20, fold)
	repo := w.write(t, paths)
	for _, path := range paths {
		path, dir := strings.CutSuffix(path, "/")
		name := filepath.Join(repo, path)
		if dir || os.MkdirAll(filepath.Dir(name), 0o777) != nil {
			continue // a parent was made a file before
		}
		if _, err := os.Lstat(name); err == nil {
			continue
		}
		if g.percent(20) { // a link to a directory is not one
			must(t, os.Symlink("..", name))
		} else {
			must(t, os.WriteFile(name, nil, 0o666))
		}
	}
	out := w.git(t, repo, "", "ls-files", "--others", "--exclude-standard", "-z")
	want := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	fallbacks := NewChain(Parse([]byte(w.exclude), fold), Parse([]byte(w.excludesFile), fold))
	got := walk(t, repo, "", fallbacks, fold)
	slices.Sort(want)
	slices.Sort(got)
	for _, path := range got {
		if _, ok := slices.BinarySearch(want, path); !ok {
			t.Errorf("git ignores %q\n%v", path, w.part(path))
		}
	}
	for _, path := range want {
		if _, ok := slices.BinarySearch(got, path); !ok {
			t.Errorf("git adds %q\n%v", path, w.part(path))
		}
	}
	return len(paths), len(got)
}
