package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// TestIndexTree: names that sort between a directory and what is in it, all modes, both formats, and no entry.
func TestIndexTree(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			o := gittest.NewOracle(t)
			dir := o.Init(tempDir(t), "--object-format="+format)
			o.In(dir, "read-tree", "--empty")
			compareIndex(t, o, dir, format == "sha256")
			for _, name := range []string{
				"a/b", "a-b", "a.b", "a0", "a/b.c", "a/b-c/d", "a/b/../x", "z", "y/y/y/y/y", "y/y/y/z", "y/x", "\xff/\xfe", "x y/\n", strings.Repeat("deep/", 50) + "f",
			} {
				if name = filepath.Clean(name); name == "a/b" {
					name += "/c"
				}
				write(t, filepath.Join(dir, name), name)
			}
			if err := os.Symlink("a0", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(dir, "a0"), 0o755); err != nil {
				t.Fatal(err)
			}
			committed(t, o, filepath.Join(dir, "y", "sub"), "--object-format="+format)
			o.In(dir, "-c", "advice.addEmbeddedRepo=false", "add", "-A")
			if x := compareIndex(t, o, dir, format == "sha256"); x.Len() < 15 {
				t.Errorf("only %d entries", x.Len())
			}
		})
	}
}

// TestIndexTreeTooDeep: a hostile index costs no more memory than its names, and has no tree.
func TestIndexTreeTooDeep(t *testing.T) {
	t.Parallel()
	for depth, want := range map[int]bool{maxTreeDepth - 1: true, maxTreeDepth: false, 1 << 20: false} {
		data := append(concat(header(2, 1), plainEntry(uint32(object.Regular), 0, strings.Repeat("/", depth)+"f")), make([]byte, 20)...)
		x, err := readBytes(t, data)
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := x.Tree(false); ok != want {
			t.Errorf("%d directories: %s, %v", depth, name, ok)
		}
	}
}

// TestIndexHasMore: git's own extensions can be computed again, but for that of resolved conflicts.
func TestIndexHasMore(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"TREE": false, "UNTR": false, "FSMN": false, "EOIE": false, "IEOT": false, "REUC": true, "XYZZ": true} {
		data := concat(header(2, 1), plainEntry(uint32(object.Regular), 0, "f"), extension(name, "data"), make([]byte, 20))
		x, err := readBytes(t, data)
		if err != nil {
			t.Fatal(err)
		}
		if x.HasMore() != want {
			t.Errorf("%s: %v", name, x.HasMore())
		}
	}
	o := gittest.NewOracle(t)
	dir := committed(t, o, tempDir(t))
	for _, side := range []string{"theirs", "ours"} {
		o.In(dir, "checkout", "-q", "-B", side, "main")
		write(t, filepath.Join(dir, "f"), side)
		o.Commit(dir, side)
	}
	if _, err := o.Try(dir, "merge", "theirs"); err == nil {
		t.Fatal("no conflict")
	}
	o.In(dir, "add", "f")
	x, err := ReadIndex(filepath.Join(dir, ".git", "index"), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := x.Tree(false); !ok || !x.HasMore() {
		t.Errorf("after a conflict: tree %v, more %v", ok, x.HasMore())
	}
}
