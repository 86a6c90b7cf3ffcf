package apply

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

func otherVersion(kind string) testTree {
	switch kind {
	case "file":
		return testTree{"p": aFile("another file\n").bits(0o755)}
	case "dir":
		return testTree{"p": aFolder().bits(0o750), "p/f": aFile("changed\n"), "p/sub": aFile("no directory any more"), "p/new/g": aFile("")}
	case "link":
		return testTree{"p": aLink("p")}
	}
	return testTree{}
}

func TestApplyCreatesMissingParents(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	a, blobs := newExecutor(root)
	applyAll(t, a, []Change{{Path: "a/b/c", Action: Create, Mode: object.Regular, Perm: 0o600, ID: blobs.put("x")}})
	testTree{"a/b/c": aFile("x").bits(0o600)}.check(t, root)
}

func TestR18PermissionBits(t *testing.T) {
	t.Parallel()
	root := tempRoot(t)
	before, after := testTree{}, testTree{}
	perms := []uint16{0o600, 0o444, 0o755, 0o400, 0o777, 0o4755, 0o2711, 0o6755, 0o1644, 0o666}
	if os.Getuid() == 0 { // others could not read what they wrote
		perms = append(perms, 0o100, 0)
	}
	for i, from := range perms {
		name := fmt.Sprintf("%04o", from)
		after["created/"+name] = aFile("new").bits(from)
		before["rewritten/"+name], after["rewritten/"+name] = aFile("old").bits(perms[len(perms)-1-i]), aFile("new").bits(from)
		before["chmod/"+name], after["chmod/"+name] = aFile("same").bits(perms[len(perms)-1-i]), aFile("same").bits(from)
		if from&0o500 == 0o500 { // or the test itself could not look inside
			after["dirs/"+name] = aFolder().bits(from)
			before["dirmod/"+name], after["dirmod/"+name] = aFolder(), aFolder().bits(from)
			after["dirs/"+name+"/f"] = aFile("below")
		}
	}
	after["sticky"], after["setgid/f"], after["setgid"] = aFolder().bits(0o1777), aFile("x"), aFolder().bits(0o2775)
	before.build(t, root)
	a, blobs := newExecutor(root)
	applyAll(t, a, plan(t, root, blobs, before, after))
	after.check(t, root)
}

func TestR19EmptyDirectories(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	before := testTree{"made/by/step": aFolder(), "keep": aFolder()}
	after := testTree{"removed/by": aFolder().bits(0o700), "keep": aFolder()}
	before.build(t, root)
	a, blobs := newExecutor(root)
	applyAll(t, a, plan(t, root, blobs, before, after))
	after.check(t, root)
}

// TestR39WritesOnlyWhatDiffers: every path that is not in the plan keeps inode and
// times; a written path gets the present time.
func TestR39WritesOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	before := testTree{"a/one": aFile("1"), "a/two": aFile("2"), "b/three": aFile("3"), "l": aLink("x"), "x": aFile("4")}
	after := testTree{"a/one": aFile("changed"), "a/two": aFile("2"), "b/three": aFile("3"), "l": aLink("x"), "x": aFile("4").bits(0o755)}
	before.build(t, root)
	old := time.Now().Add(-time.Hour)
	for _, path := range []string{"a/one", "a/two", "b/three", "x"} {
		must(t, os.Chtimes(filepath.Join(root, path), old, old))
	}
	kept := map[string]*dir.State{}
	for _, path := range []string{"a/two", "b/three", "l", "b"} {
		kept[path] = expect(t, root, path)
	}
	mtimeOfX := expect(t, root, "x").Stat.MTime
	a, blobs := newExecutor(root)
	applyAll(t, a, plan(t, root, blobs, before, after))
	after.check(t, root)
	for path, was := range kept {
		if now := expect(t, root, path); *now != *was {
			t.Errorf("%q was %+v, is %+v", path, was, now)
		}
	}
	if now := expect(t, root, "a/one").Stat.MTime; now <= old.UnixNano() {
		t.Errorf("a file that was written has the time %d", now)
	}
	if now := expect(t, root, "x").Stat.MTime; now != mtimeOfX {
		t.Error("setting permission bits moved the time of the contents")
	}
}

// TestR42WhatThePlanDoesNotNameStays: a file that was never captured stands in a
// directory that is to go.
func TestR42WhatThePlanDoesNotNameStays(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	testTree{"d/agent": aFile("made by the agent"), "d/data.bin": aFile(strings.Repeat("b", 3<<20)), "e": aFolder()}.build(t, root)
	a, _ := newExecutor(root)
	outcomes, err := a.Run(context.Background(), []Change{
		{Path: "d", Action: Rmdir, Was: expect(t, root, "d")},
		{Path: "d/agent", Action: Delete, Was: expect(t, root, "d/agent")},
		{Path: "e", Action: Rmdir},
	}, nil)
	must(t, err)
	wantKept(t, outcomes[0], ErrNotEmpty)
	if !outcomes[1].Done || !outcomes[2].Done {
		t.Errorf("the rest: %+v", outcomes)
	}
	testTree{"d/data.bin": aFile(strings.Repeat("b", 3<<20))}.check(t, root)
}

// TestR45HardLinks: the other names, inside and outside the root, keep their
// contents, and the names of one file do not disturb one another's change.
func TestR45HardLinks(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	before := testTree{"a": aFile("shared"), "gone": aFile("shared 2"), "x": aFile("mode")}
	before.build(t, root)
	link := func(old, new string) { t.Helper(); must(t, os.Link(filepath.Join(root, old), new)) }
	link("a", filepath.Join(root, "b"))
	link("a", filepath.Join(root, "kept"))
	link("a", filepath.Join(outside, "store"))
	link("gone", filepath.Join(root, "gone2"))
	link("gone", filepath.Join(outside, "gone"))
	link("x", filepath.Join(root, "y"))
	before["b"], before["kept"], before["gone2"], before["y"] = before["a"], before["a"], before["gone"], before["x"]
	after := testTree{"a": aFile("theirs"), "b": aFile("other"), "kept": aFile("shared"), "x": aFile("mode").bits(0o755), "y": aFile("mode").bits(0o755)}
	a, blobs := newExecutor(root)
	outcomes := applyAll(t, a, plan(t, root, blobs, before, after))
	after.check(t, root)
	testTree{"store": aFile("shared"), "gone": aFile("shared 2")}.check(t, outside)
	for _, out := range outcomes {
		if !out.Linked {
			t.Errorf("%s %q: other names not reported", out.Action, out.Path)
		}
	}
}

// TestR45ManyNamesOfOneFile: the writes are shared out, and each moves the change
// time that the others look at, before and after a reading that takes them a while.
func TestR45ManyNamesOfOneFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	shared := aFile(strings.Repeat("shared", 64<<10))
	before, after := testTree{"0": shared}, testTree{"0": aFile("new 0")}
	before.build(t, root)
	for i := 1; i < 10*chunkSize; i++ {
		name := fmt.Sprint(i)
		must(t, os.Link(filepath.Join(root, "0"), filepath.Join(root, name)))
		before[name], after[name] = shared, aFile("new "+name)
	}
	a, blobs := newExecutor(root)
	applyAll(t, a, plan(t, root, blobs, before, after))
	after.check(t, root)
}

// TestR45ManyNamesRemoved: the removals are shared out, too.
func TestR45ManyNamesRemoved(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	shared := aFile(strings.Repeat("shared", 64<<10))
	before, after := testTree{"0": shared}, testTree{"0": shared}
	before.build(t, root)
	for i := 1; i < 10*chunkSize; i++ {
		name := fmt.Sprint(i)
		must(t, os.Link(filepath.Join(root, "0"), filepath.Join(root, name)))
		before[name] = shared
	}
	a, blobs := newExecutor(root)
	for _, out := range applyAll(t, a, plan(t, root, blobs, before, after)) {
		if !out.Linked {
			t.Errorf("%s %q: other names not reported", out.Action, out.Path)
		}
	}
	after.check(t, root)
}

// TestApplySizeOfSource: a source that gives more or less than it announces.
func TestApplySizeOfSource(t *testing.T) {
	t.Parallel()
	for _, announced := range []int64{0, 3, 5, 1 << 40, -1} {
		root := t.TempDir()
		a, blobs := newExecutor(root)
		id := blobs.put("four")
		a.Source = sizedSource{blobs, announced}
		wantKept(t, applyOne(t, a, Change{Path: "n", Action: Create, Mode: object.Regular, Perm: 0o644, ID: id}), errContents)
		testTree{}.check(t, root)
	}
}

type sizedSource struct {
	*memorySource
	size int64
}

func (s sizedSource) Open(id object.ID) (int64, io.ReadCloser, error) {
	_, r, err := s.memorySource.Open(id)
	return s.size, r, err
}

func TestApplySizes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	after := testTree{}
	for _, size := range []int{0, 1, bufferSize - 1, bufferSize, bufferSize + 1, 2 * bufferSize, 3*bufferSize + 5} {
		after[fmt.Sprint(size)] = aFile(strings.Repeat("z", size))
	}
	for _, sync := range []bool{false, true} {
		a, blobs := newExecutor(root)
		a.Sync = sync
		applyAll(t, a, plan(t, root, blobs, testTree{}, after))
		after.check(t, root)
		applyAll(t, a, plan(t, root, blobs, after, testTree{}))
		testTree{}.check(t, root)
	}
}

func TestApplyNamesOfAnyBytes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	after := testTree{}
	for _, name := range []string{
		"new\nline", "tab\t", `"quoted"`, "\xff\xfe\x80", " lead", "trail ", "-rf", `back\slash`, "*?[", "é", "e\u0301", "\x01\x7f", ":", "d:",
		strings.Repeat("x", 255), strings.Repeat("\xe2\x82\xac", 85), ".cairn-t0-1.tmp.orig", "con", "...",
	} {
		after[name+"/"+name] = aFile(name)
		after["f"+name[1:]] = aFile(name)
		after["l"+name[1:]] = aLink(name)
	}
	a, blobs := newExecutor(root)
	applyAll(t, a, plan(t, root, blobs, testTree{}, after))
	after.check(t, root)
	applyAll(t, a, plan(t, root, blobs, after, testTree{}))
	testTree{}.check(t, root)
}

// TestApplyPathsLongerThanTheSystemTakes: more than 4096 bytes, by long names and by
// many.
func TestApplyPathsLongerThanTheSystemTakes(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{"long names": strings.Repeat("n", 250), "many names": "dd"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			folder := strings.TrimSuffix(strings.Repeat(part+"/", 5000/len(part)), "/")
			a, blobs := newExecutor(root)
			one, two := blobs.put("one"), blobs.put("two")
			outcomes := applyAll(t, a, []Change{
				{Path: folder + "/f", Action: Create, Mode: object.Regular, Perm: 0o600, ID: one},
				{Path: folder + "/sub", Action: Mkdir, Mode: object.Dir, Perm: 0o755},
			})
			e := outcomes[0].Entry
			was := &dir.State{Mode: e.Mode, Perm: e.Perm, Stat: e.Stat, ID: e.ID}
			e = applyAll(t, a, []Change{{Path: folder + "/f", Action: Modify, Mode: object.Regular, Perm: 0o644, ID: two, Was: was}})[0].Entry
			was = &dir.State{Mode: e.Mode, Perm: e.Perm, Stat: e.Stat, ID: e.ID}
			if e.ID != two {
				t.Errorf("entry %+v", e)
			}
			changes := []Change{{Path: folder + "/f", Action: Delete, Was: was}, {Path: folder + "/sub", Action: Rmdir}}
			for up := folder; up != ""; up = parentPath(up) {
				changes = append(changes, Change{Path: up, Action: Rmdir})
			}
			applyAll(t, a, changes)
			testTree{}.check(t, root)
		})
	}
}
