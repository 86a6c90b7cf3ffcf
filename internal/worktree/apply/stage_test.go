package apply

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// hookedBlobs calls a function before the contents of one id are given out: at that
// moment earlier changes of the same worker are staged, and not yet placed.
type hookedBlobs struct {
	*memorySource
	at   object.ID
	hook func()
}

func (b *hookedBlobs) Open(id object.ID) (int64, io.ReadCloser, error) {
	if id == b.at {
		b.hook()
	}
	return b.memorySource.Open(id)
}

// TestApplyMovedWhileStaged: the directory of a staged file is moved, and another one
// takes its name. The file arrives in the directory that it was prepared in, and
// nothing is left over in either.
func TestApplyMovedWhileStaged(t *testing.T) {
	t.Parallel()
	for _, flush := range flushModes {
		root := t.TempDir()
		before := testTree{"a/deep/f": aFile("old"), "b/g": aFile("old")}
		before.build(t, root)
		a, blobs := newExecutor(root)
		flush(a)
		changes := plan(t, root, blobs, before, testTree{"a/deep/f": aFile("new f"), "b/g": aFile("new g")})
		a.Source = &hookedBlobs{blobs, blobs.put("new g"), func() {
			must(t, os.Rename(filepath.Join(root, "a"), filepath.Join(root, "moved")))
			must(t, os.MkdirAll(filepath.Join(root, "a/deep"), 0o755))
		}}
		applyAll(t, a, changes)
		testTree{"moved/deep/f": aFile("new f"), "a/deep": aFolder(), "b/g": aFile("new g")}.check(t, root)
	}
}

// TestApplyChangedWhileStaged: a write by another program after the new contents were prepared, and
// before they take their place, stays.
func TestApplyChangedWhileStaged(t *testing.T) {
	t.Parallel()
	for _, flush := range flushModes {
		root := t.TempDir()
		before := testTree{"a": aFile("old"), "b": aFile("old"), "c": aFile("old")}
		before.build(t, root)
		a, blobs := newExecutor(root)
		flush(a)
		changes := plan(t, root, blobs, before, testTree{"a": aFile("new a"), "b": aFile("new b"), "c": aFile("new c")})
		a.Source = &hookedBlobs{blobs, blobs.put("new c"), func() {
			must(t, os.WriteFile(filepath.Join(root, "a"), []byte("theirs"), 0o644))
			must(t, os.Remove(filepath.Join(root, "b")))
		}}
		outcomes, err := a.Run(context.Background(), changes, nil)
		must(t, err)
		wantKept(t, outcomes[0], dir.ErrChanged)
		wantKept(t, outcomes[1], dir.ErrChanged)
		must(t, outcomes[2].Err)
		testTree{"a": aFile("theirs"), "c": aFile("new c")}.check(t, root)
	}
}

// TestApplyMoreThanIsStagedAtOnce crosses the limits of what is staged, by number and
// by size, with everything that can be staged, in directories deeper than stay open.
func TestApplyMoreThanIsStagedAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	files := 3 * maxStaged
	if testing.Short() {
		files = 2 * maxStaged // of which four in five are staged
	}
	for _, flush := range flushModes {
		root := t.TempDir()
		before, after := testTree{}, testTree{}
		deep := strings.Repeat("d/", dir.MaxOpen+3)
		for i := range files {
			path := fmt.Sprintf("%02d/%s%d", i%7, deep[:2*(i%(dir.MaxOpen+3))], i)
			before[path], after[path] = aFile("old"), aFile(fmt.Sprint(i))
			switch i % 5 {
			case 1:
				after[path] = aLink(fmt.Sprint(i))
			case 2:
				after[path] = aFile("old").bits(0o600)
			case 3:
				delete(before, path)
			case 4:
				delete(after, path)
			}
		}
		for i := range 5 {
			after[fmt.Sprintf("large%d", i)] = aFile(strings.Repeat(fmt.Sprint(i), maxStagedBytes/2))
		}
		for path := range before.full() {
			if before.full()[path].Mode == object.Dir {
				after[path] = aFolder()
			}
		}
		before.build(t, root)
		a, blobs := newExecutor(root)
		flush(a)
		applyAll(t, a, plan(t, root, blobs, before, after))
		after.check(t, root)
	}
}
