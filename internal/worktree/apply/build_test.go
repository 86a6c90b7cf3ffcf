package apply

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// newBuilder is a builder of a directory, with the items of a tree whose contents a source holds.
func newBuilder(t *testing.T, tree testTree) (*Builder, *memorySource, []Item) {
	t.Helper()
	blobs := &memorySource{}
	all := tree.full()
	var items []Item
	for _, path := range all.paths() {
		n := all[path]
		it := Item{Path: path, Mode: n.Mode, Perm: n.Perm}
		if n.Mode != object.Dir {
			it.ID = blobs.put(n.Data)
		}
		items = append(items, it)
	}
	return &Builder{Dir: tempRoot(t), Source: blobs}, blobs, items
}

func TestBuilderIsExact(t *testing.T) {
	t.Parallel()
	tree := testTree{
		"a": aFile("one"), "run": aFile("#!").bits(0o755), "private": aFile("p").bits(0o600), "ro": aFile("r").bits(0o444), "empty": aFile(""),
		"d/e/f": aFile("deep"), "bare": aFolder(), "closed": aFolder().bits(0o555), "closed/in": aFile("in"), "link": aLink("d/e"), "dangling": aLink("../nowhere"),
	}
	for _, sync := range []bool{false, true} {
		b, _, items := newBuilder(t, tree)
		b.Sync = sync
		calls, files := 0, 0
		built, err := b.Add(t.Context(), items, func(n int, _ int64) { calls, files = calls+1, n })
		must(t, err)
		must(t, b.Finish())
		for i, out := range built {
			if out.Err != nil || out.Way != Written {
				t.Errorf("%s: %+v", items[i].Path, out)
			}
		}
		tree.check(t, b.Dir)
		if calls != 9 || files != 9 {
			t.Errorf("told %d times, of %d files", calls, files)
		}
	}
}

// TestBuilderGoesOnWithoutAPath: a path that cannot be made, or whose contents are lost, has an error,
// and the others come.
func TestBuilderGoesOnWithoutAPath(t *testing.T) {
	t.Parallel()
	b, blobs, items := newBuilder(t, testTree{"a": aFile("a"), "d/b": aFile("b"), "lost": aFile("lost")})
	delete(blobs.data, blobs.put("lost"))
	items = append(items,
		Item{Path: "../out", Mode: object.Regular, Perm: 0o644, ID: blobs.put("a")}, Item{Path: "d/../../out", Mode: object.Regular, Perm: 0o644, ID: blobs.put("a")},
		Item{Path: ".git/config", Mode: object.Regular, Perm: 0o644, ID: blobs.put("a")}, Item{Path: "none/x", Mode: object.Regular, Perm: 0o644, ID: blobs.put("a")},
		Item{Path: "d", Mode: object.Symlink, ID: blobs.put("/etc")}, Item{Path: "odd", Mode: object.Gitlink, ID: blobs.put("a")},
	)
	built, err := b.Add(t.Context(), items, nil)
	must(t, err)
	must(t, b.Finish())
	failed := map[string]bool{}
	for i, out := range built {
		var withPath *fs.PathError
		if out.Err != nil && (!errors.As(out.Err, &withPath) || withPath.Path != items[i].Path) {
			t.Errorf("%s: %v", items[i].Path, out.Err)
		}
		if out.Err != nil {
			failed[items[i].Path] = true
		}
	}
	if len(failed) != 7 || failed["a"] || failed["d/b"] || !failed["lost"] || !failed["d"] {
		t.Errorf("failed: %v", failed)
	}
	testTree{"a": aFile("a"), "d/b": aFile("b")}.check(t, b.Dir)
	if left := namesIn(t, filepath.Dir(b.Dir)); len(left) != 1 {
		t.Errorf("outside: %v", left)
	}
}

// TestBuilderWithoutSymlinks: a link that cannot be made, on exFAT or by a user of Windows without the
// privilege, keeps no other path from being made.
func TestBuilderWithoutSymlinks(t *testing.T) {
	t.Parallel()
	b, _, items := newBuilder(t, testTree{"a": aFile("a"), "d/b": aFile("b"), "d/link": aLink("b"), "z": aFile("z")})
	b.Dir = gittest.LinklessDir(t)
	built, err := b.Add(t.Context(), items, nil)
	must(t, err)
	must(t, b.Finish())
	for i, out := range built {
		if (out.Err != nil) != (items[i].Path == "d/link") {
			t.Errorf("%s: %v", items[i].Path, out.Err)
		}
	}
	testTree{"a": aFile("a"), "d/b": aFile("b"), "z": aFile("z")}.check(t, b.Dir)
}

// TestBuilderTakesLiveFiles: a file with the expected stat is cloned or copied and keeps its time; one
// that has changed comes out of the source, and none through a link.
func TestBuilderTakesLiveFiles(t *testing.T) {
	t.Parallel()
	tree := testTree{"same": aFile("same"), "edited": aFile("old"), "d/behind": aFile("right")}
	b, _, items := newBuilder(t, tree)
	b.Live = tempRoot(t)
	tree.build(t, b.Live)
	for i := range items {
		if items[i].Mode == object.Regular {
			items[i].Live, items[i].FromLive = statOf(t, filepath.Join(b.Live, items[i].Path)), true
		}
	}
	must(t, os.WriteFile(filepath.Join(b.Live, "edited"), []byte("another"), 0o644))
	must(t, os.Rename(filepath.Join(b.Live, "d"), filepath.Join(b.Live, "moved")))
	links := os.Symlink("moved", filepath.Join(b.Live, "d")) == nil
	built, err := b.Add(t.Context(), items, nil)
	must(t, err)
	must(t, b.Finish())
	tree.check(t, b.Dir)
	for i, out := range built {
		if live := out.Way != Written; items[i].Mode == object.Regular && live != (items[i].Path == "same") && (links || items[i].Path != "d/behind") {
			t.Errorf("%s came by way %d", items[i].Path, out.Way)
		}
	}
	was, is := statOf(t, filepath.Join(b.Live, "same")), statOf(t, filepath.Join(b.Dir, "same"))
	if was.MTime != is.MTime {
		t.Error("the time of modification was not kept")
	}
}

func statOf(t *testing.T, path string) index.Stat {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	return dir.InfoOf(info).Stat
}

// TestBuilderStops: with its context, and with an error that is about no single path.
func TestBuilderStops(t *testing.T) {
	t.Parallel()
	b, _, items := newBuilder(t, testTree{"a": aFile("a"), "b": aFile("b")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Add(ctx, items, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	gone, _, items := newBuilder(t, testTree{"a": aFile("a")})
	gone.Dir = filepath.Join(gone.Dir, "missing")
	if _, err := gone.Add(t.Context(), items, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
