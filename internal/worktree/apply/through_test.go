package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// swapKinds are what a path can be, with something in the directory.
var swapKinds = map[string]testTree{
	"file":   {"p": aFile("a file\n")},
	"dir":    {"p": aFolder(), "p/f": aFile("in the directory\n"), "p/sub/l": aLink("../f"), "p/empty": aFolder()},
	"link":   {"p": aLink("elsewhere")},
	"absent": {},
}

// TestR47Swaps takes a path from everything it can be to everything it can be.
func TestR47Swaps(t *testing.T) {
	t.Parallel()
	for from, before := range swapKinds {
		for to := range swapKinds {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				root := t.TempDir()
				before.build(t, root)
				a, blobs := newExecutor(root)
				a.stamps = byTicks
				after := otherVersion(to)
				outcomes := applyAll(t, a, plan(t, root, blobs, before, after))
				after.check(t, root)
				for _, out := range outcomes {
					checkEntry(t, root, out)
				}
				applyAll(t, a, plan(t, root, blobs, after, before))
				before.check(t, root)
			})
		}
	}
}

// byTicks is what a file system does whose stats prove nothing of a file just written.
func byTicks(*os.File) atomicfile.Fine { return atomicfile.Fine{} }

// checkEntry compares an outcome's entry with what a scan would see.
func checkEntry(t *testing.T, root string, out Outcome) {
	t.Helper()
	if out.Action == Delete || out.Action == Rmdir {
		if out.Entry != (index.Entry{}) {
			t.Errorf("entry of the removed %q: %+v", out.Path, out.Entry)
		}
		return
	}
	want, e := expect(t, root, out.Path), out.Entry
	_, name := splitPath(out.Path)
	if e.Name != name || e.Mode != want.Mode || e.Perm != want.Perm || e.ID != want.ID {
		t.Errorf("entry of %q: %+v, want %+v", out.Path, e, want)
	}
	if e.Mode != object.Dir && (e.Stat != want.Stat || !e.Racy) {
		t.Errorf("stat of %q: %+v, racy %t, want %+v", out.Path, e.Stat, e.Racy, want.Stat)
	}
}

// longLink is a target as long as links may be here: XFS takes no more than 1023 bytes.
func longLink(t *testing.T) string {
	t.Helper()
	long := strings.Repeat("x/", 2000)
	err := os.Symlink(long, filepath.Join(t.TempDir(), "long"))
	if errors.Is(err, syscall.ENAMETOOLONG) {
		return long[:1000]
	}
	if err != nil {
		t.Fatal(err)
	}
	return long
}

func TestR21LinksAreNeverFollowed(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	testTree{"target": aFile("outside").bits(0o640)}.build(t, outside)
	target := filepath.Join(outside, "target")
	before := testTree{"a": aLink(target), "b": aFile("a file"), "c": aLink("c"), "d": aLink("nowhere"), "gone": aLink(target)}
	after := testTree{
		"a": aFile("no link any more"), "b": aLink(target), "c": aLink("d"), "d": aLink("c"), "new": aLink("/etc/hosts"),
		"odd": aLink("a\nb\xff\t'\\ "), "up/l": aLink("../../../x"), "long": aLink(longLink(t)),
	}
	before.build(t, root)
	a, blobs := newExecutor(root)
	applyAll(t, a, plan(t, root, blobs, before, after))
	after.check(t, root)
	testTree{"target": aFile("outside").bits(0o640)}.check(t, outside)
}

func TestApplyLinkTextThatCannotBe(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	before := testTree{"l": aLink("good")}
	before.build(t, root)
	a, blobs := newExecutor(root)
	for _, text := range []string{"", "a\x00b", strings.Repeat("x", 5000), strings.Repeat("x", maxLinkText+1)} {
		c := Change{Path: "l", Action: Modify, Mode: object.Symlink, ID: blobs.put(text), Was: expect(t, root, "l")}
		if out := applyOne(t, a, c); out.Done || out.Err == nil {
			t.Errorf("link of %d bytes: %+v", len(text), out)
		}
	}
	before.check(t, root)
}

// TestR43NothingThroughALink: between plan and apply a directory becomes a link to a
// directory outside that has the same names.
func TestR43NothingThroughALink(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	before := testTree{"link/keep.txt": aFile("mine"), "link/edit.txt": aFile("mine"), "link/mode": aFile("mine"), "link/sub": aFolder()}
	after := testTree{"link/edit.txt": aFile("restored"), "link/mode": aFile("mine").bits(0o600), "link/new": aFile("restored"), "link/made": aFolder()}
	precious := testTree{"keep.txt": aFile("mine"), "edit.txt": aFile("mine"), "mode": aFile("mine"), "sub": aFolder()}
	before.build(t, root)
	precious.build(t, outside)
	for _, resume := range []bool{false, true} {
		a, blobs := newExecutor(root)
		a.Resume = resume
		if resume {
			must(t, os.Remove(filepath.Join(root, "link")))
			must(t, os.Rename(filepath.Join(root, "real"), filepath.Join(root, "link")))
		}
		changes := plan(t, root, blobs, before, after)
		must(t, os.Rename(filepath.Join(root, "link"), filepath.Join(root, "real")))
		must(t, os.Symlink(outside, filepath.Join(root, "link")))
		outcomes, err := a.Run(context.Background(), changes, nil)
		must(t, err)
		for _, out := range outcomes {
			wantKept(t, out, dir.ErrChanged)
		}
		precious.check(t, outside)
	}
}

// TestR43UndoOfALinkReplaced: the case as reported: a link to outside was replaced by
// a directory, and going back brings the link.
func TestR43UndoOfALinkReplaced(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	testTree{"keep.txt": aFile("precious")}.build(t, outside)
	before := testTree{"link/keep.txt": aFile("the agent's")}
	after := testTree{"link": aLink(outside)}
	before.build(t, root)
	a, blobs := newExecutor(root)
	applyAll(t, a, plan(t, root, blobs, before, after))
	after.check(t, root)
	testTree{"keep.txt": aFile("precious")}.check(t, outside)
}

// TestR44NothingThroughALinkInside: os.Root alone would follow this link.
func TestR44NothingThroughALinkInside(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	before := testTree{"a/b": aFile("a's"), "c/b": aFile("c's")}
	before.build(t, root)
	a, blobs := newExecutor(root)
	changes := plan(t, root, blobs, before, testTree{"a/b": aFile("restored"), "a/n": aFile("restored"), "c/b": aFile("c's")})
	must(t, os.RemoveAll(filepath.Join(root, "a")))
	must(t, os.Symlink("c", filepath.Join(root, "a")))
	outcomes, err := a.Run(context.Background(), changes, nil)
	must(t, err)
	for _, out := range outcomes {
		wantKept(t, out, dir.ErrChanged)
	}
	testTree{"a": aLink("c"), "c/b": aFile("c's")}.check(t, root)
}

func TestR46UnsafePaths(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	root := filepath.Join(parent, "root")
	tree := testTree{"x": aFile("outside"), "root/.git/config": aFile("[core]"), "root/a": aFolder()}
	tree.build(t, parent)
	a, blobs := newExecutor(root)
	id := blobs.put("evil")
	for _, path := range unsafePaths {
		for action := Create; action <= Rmdir; action++ {
			mode := object.Regular
			if action == Mkdir {
				mode = object.Dir
			}
			wantKept(t, applyOne(t, a, Change{Path: path, Action: action, Mode: mode, Perm: 0o755, ID: id}), ErrUnsafePath)
		}
		wantKept(t, applyOne(t, a, Change{Path: path + "/below", Action: Create, Mode: object.Regular, ID: id}), ErrUnsafePath)
	}
	tree.check(t, parent)
}

// TestApplyStaysInTheRootItOpened: another directory takes the root's place halfway.
func TestApplyStaysInTheRootItOpened(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	root, moved := filepath.Join(parent, "root"), filepath.Join(parent, "moved")
	must(t, os.Mkdir(root, 0o755))
	a, blobs := newExecutor(root)
	after := testTree{"a": aFile("1"), "b": aFile("2"), "d/e": aFile("3")}
	changes := plan(t, root, blobs, testTree{}, after)
	outcomes, err := a.Run(context.Background(), changes, func(done, total int) {
		if total != len(changes) {
			t.Errorf("total %d, want %d", total, len(changes))
		}
		if done == 1 {
			must(t, os.Rename(root, moved))
			must(t, os.Mkdir(root, 0o755))
		}
	})
	must(t, err)
	for _, out := range outcomes {
		must(t, out.Err)
	}
	testTree{}.check(t, root)
	after.check(t, moved)
}
