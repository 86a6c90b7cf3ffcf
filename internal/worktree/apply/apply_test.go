package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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

func TestApplyRefusesChangesWithoutSense(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	tree := testTree{"d": aFolder(), "f": aFile("x"), "l": aLink("f")}
	tree.build(t, root)
	a, blobs := newExecutor(root)
	id := blobs.put("y")
	dir, file, link := expect(t, root, "d"), expect(t, root, "f"), expect(t, root, "l")
	for _, c := range []Change{
		{Path: "f"}, {Path: "f", Action: 99},
		{Path: "n", Action: Create, Mode: object.Dir, Perm: 0o755}, {Path: "n", Action: Create, Mode: object.Gitlink, ID: id},
		{Path: "n", Action: Create, ID: id}, {Path: "n", Action: Create, Mode: object.Regular, Perm: 0o10644, ID: id},
		{Path: "d", Action: Modify, Mode: object.Regular, ID: id, Was: dir},
		{Path: "d", Action: Delete, Was: dir}, {Path: "f", Action: Rmdir, Was: file},
		{Path: "f", Action: Mkdir, Mode: object.Dir, Was: file}, {Path: "n", Action: Mkdir, Mode: object.Regular},
		{Path: "f", Action: Chmod, Mode: object.Regular, Perm: 0o600}, {Path: "l", Action: Chmod, Mode: object.Symlink, Was: link},
		{Path: "d", Action: Chmod, Mode: object.Regular, Perm: 0o600, Was: dir},
	} {
		wantKept(t, applyOne(t, a, c), fs.ErrInvalid)
	}
	tree.check(t, root)
}

// TestApplyKeepsWhatChanged: every way in which a path can have changed since the
// plan was made.
func TestApplyKeepsWhatChanged(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(t *testing.T, at string){
		"contents, same size":     func(t *testing.T, at string) { must(t, os.WriteFile(at, []byte("MINE"), 0o644)) },
		"contents, same times":    sameTimesEdit,
		"contents, other size":    func(t *testing.T, at string) { must(t, os.WriteFile(at, []byte("mine too"), 0o644)) },
		"replaced by rename":      func(t *testing.T, at string) { renameEdit(t, at, "MINE") },
		"emptied":                 func(t *testing.T, at string) { must(t, os.Truncate(at, 0)) },
		"permission bits":         func(t *testing.T, at string) { must(t, os.Chmod(at, 0o640)) },
		"link in its place":       func(t *testing.T, at string) { must(t, os.Remove(at)); must(t, os.Symlink("mine", at)) },
		"directory in its place":  func(t *testing.T, at string) { must(t, os.Remove(at)); must(t, os.Mkdir(at, 0o755)) },
		"full directory there":    func(t *testing.T, at string) { must(t, os.Remove(at)); must(t, os.MkdirAll(at+"/x", 0o755)) },
		"absent, for what writes": func(t *testing.T, at string) { must(t, os.Remove(at)) },
	} {
		for _, resume := range []bool{false, true} {
			for action := Modify; action <= Delete; action++ {
				t.Run(fmt.Sprintf("%s/%s/resume=%t", name, action, resume), func(t *testing.T) {
					t.Parallel()
					root := t.TempDir()
					testTree{"f": aFile("mine"), "g": aFile("g")}.build(t, root)
					a, blobs := newExecutor(root)
					a.Resume = resume
					c := Change{Path: "f", Action: action, Mode: object.Regular, Perm: 0o755, ID: blobs.put("theirs"), Was: expect(t, root, "f")}
					edit(t, filepath.Join(root, "f"))
					edited := readTree(t, root)
					out := applyOne(t, a, c)
					if action == Delete && edited["f"] == (testNode{}) {
						if !out.Done {
							t.Errorf("deletion of what is gone: %v", out.Err)
						}
					} else {
						wantKept(t, out, dir.ErrChanged)
					}
					edited.check(t, root)
				})
			}
		}
	}
}

func renameEdit(t *testing.T, at, data string) {
	must(t, os.WriteFile(at+".new", []byte(data), 0o644))
	must(t, os.Chmod(at+".new", 0o644))
	must(t, os.Rename(at+".new", at))
}

// sameTimesEdit leaves the modification time and the size as they were, and only
// the change time tells.
func sameTimesEdit(t *testing.T, at string) {
	fi, err := os.Stat(at)
	must(t, err)
	for before := dir.InfoOf(fi).Stat.CTime; ; {
		must(t, os.WriteFile(at, []byte("MINE"), 0o644))
		must(t, os.Chtimes(at, fi.ModTime(), fi.ModTime()))
		now, err := os.Stat(at)
		must(t, err)
		if dir.InfoOf(now).Stat.CTime != before {
			return
		}
	}
}

// TestApplyGoesByContentsWhenOnlyTheStatDiffers: nothing can be lost then.
func TestApplyGoesByContentsWhenOnlyTheStatDiffers(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(t *testing.T, at string, was *dir.State){
		"touched":              func(t *testing.T, at string, _ *dir.State) { must(t, os.Chtimes(at, time.Now(), time.Unix(1e9, 0))) },
		"saved without change": func(t *testing.T, at string, _ *dir.State) { renameEdit(t, at, "mine") },
		"another name":         func(t *testing.T, at string, _ *dir.State) { must(t, os.Link(at, at+"2")); must(t, os.Remove(at+"2")) },
		"stat not trusted":     func(_ *testing.T, _ string, was *dir.State) { was.Stat = index.Stat{} },
	} {
		for _, known := range []bool{true, false} {
			for _, action := range []Action{Modify, Delete} {
				t.Run(fmt.Sprintf("%s/%s/known=%t", name, action, known), func(t *testing.T) {
					t.Parallel()
					root := t.TempDir()
					testTree{"f": aFile("mine")}.build(t, root)
					must(t, os.Chtimes(filepath.Join(root, "f"), time.Now(), time.Unix(1e9+7, 0)))
					a, blobs := newExecutor(root)
					c := Change{Path: "f", Action: action, Mode: object.Regular, Perm: 0o644, ID: blobs.put("theirs"), Was: expect(t, root, "f")}
					waitForTick(t, filepath.Join(root, "f"))
					edit(t, filepath.Join(root, "f"), c.Was)
					if !known {
						c.Was.ID = object.ID{}
						wantKept(t, applyOne(t, a, c), dir.ErrChanged)
						testTree{"f": aFile("mine")}.check(t, root)
						return
					}
					applyAll(t, a, []Change{c})
					want := testTree{"f": aFile("theirs")}
					if action == Delete {
						want = testTree{}
					}
					want.check(t, root)
				})
			}
		}
	}
}

// waitForTick returns when the file system's clock has moved on from the change time
// of the file, by making another file until it has a later one.
func waitForTick(t *testing.T, at string) {
	t.Helper()
	fi, err := os.Lstat(at)
	must(t, err)
	probe := filepath.Join(t.TempDir(), "probe")
	for {
		must(t, os.WriteFile(probe, nil, 0o644))
		now, err := os.Lstat(probe)
		must(t, err)
		if dir.InfoOf(now).Stat.CTime > dir.InfoOf(fi).Stat.CTime {
			return
		}
		must(t, os.Remove(probe))
	}
}

func TestApplyKeepsWhatAppeared(t *testing.T) {
	t.Parallel()
	for name, tree := range map[string]testTree{
		"file": {"f": aFile("mine")}, "link": {"f": aLink("mine")}, "directory": {"f": aFolder().bits(0o711)}, "full directory": {"f/x": aFile("mine")},
	} {
		for action := Create; action <= Rmdir; action++ {
			t.Run(name+"/"+action.String(), func(t *testing.T) {
				t.Parallel()
				root := t.TempDir()
				tree.build(t, root)
				a, blobs := newExecutor(root)
				c := Change{Path: "f", Action: action, Mode: object.Regular, Perm: 0o700, ID: blobs.put("theirs")}
				reason, want := dir.ErrChanged, tree
				switch {
				case action == Mkdir:
					c.Mode = object.Dir
				case action == Chmod:
					return // needs something to expect
				case action == Rmdir && name == "directory":
					want = testTree{}
				case action == Rmdir && name == "full directory":
					reason = ErrNotEmpty
				}
				if out := applyOne(t, a, c); len(want) > 0 {
					wantKept(t, out, reason)
				}
				want.check(t, root)
			})
		}
	}
}

// TestR125Verification: contents that a source cannot vouch for, and contents on disk
// that differ from their id, replace no file.
func TestR125Verification(t *testing.T) {
	t.Parallel()
	broken := errors.New("object is corrupt")
	big := strings.Repeat("0123456789abcdef", bufferSize/8)
	for name, tc := range map[string]struct {
		spoil func(blobs *memorySource, id object.ID)
		want  error
	}{
		"unknown to the source": {func(b *memorySource, id object.ID) { delete(b.data, id) }, errNoBlob},
		"fails at its end":      {func(b *memorySource, id object.ID) { b.tail[id] = broken }, broken},
		"breaks off":            {func(b *memorySource, id object.ID) { b.tail[id] = io.ErrUnexpectedEOF }, io.ErrUnexpectedEOF},
		"other contents":        {func(b *memorySource, id object.ID) { b.data[id] = strings.ToUpper(b.data[id]) }, errContents},
		"no contents":           {func(b *memorySource, id object.ID) { b.data[id] = "" }, errContents},
	} {
		for _, data := range []string{"small", big, big + "x"} {
			for _, mode := range []object.Mode{object.Regular, object.Symlink} {
				t.Run(fmt.Sprintf("%s/%d/%s", name, len(data), mode), func(t *testing.T) {
					t.Parallel()
					root := t.TempDir()
					before := testTree{"f": aFile("mine")}
					before.build(t, root)
					a, blobs := newExecutor(root)
					data := data // the other mode's test is under way, too
					if mode == object.Symlink {
						data = data[:min(len(data), 4000)]
					}
					id := blobs.put(data)
					tc.spoil(blobs, id)
					wantKept(t, applyOne(t, a, Change{Path: "f", Action: Modify, Mode: mode, Perm: 0o644, ID: id, Was: expect(t, root, "f")}), tc.want)
					wantKept(t, applyOne(t, a, Change{Path: "n", Action: Create, Mode: mode, Perm: 0o644, ID: id}), tc.want)
					before.check(t, root)
				})
			}
		}
	}
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

func TestApplyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	a, blobs := newExecutor(root)
	ctx, cancel := context.WithCancel(context.Background())
	changes := plan(t, root, blobs, testTree{}, testTree{"a": aFile("1"), "b": aFile("2"), "c": aFile("3")})
	outcomes, err := a.Run(ctx, changes, func(done, _ int) {
		if done == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || !outcomes[0].Done || !outcomes[1].Done {
		t.Errorf("%v, %+v", err, outcomes)
	}
	wantKept(t, outcomes[2], context.Canceled)
	testTree{"a": aFile("1"), "b": aFile("2")}.check(t, root)
}

// TestApplyOnePathDoesNotStopAnother also checks that progress counts every change
// once, and that many writes, which are shared out, end up like few.
func TestApplyOnePathDoesNotStopAnother(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	after := testTree{"blocked": aFile("in the way")}
	after.build(t, root)
	a, blobs := newExecutor(root)
	var changes []Change
	for i := range 40 * chunkSize {
		path := fmt.Sprintf("d%02d/%d", i%37, i)
		if i%10 == 0 {
			path = "blocked/" + path
		} else {
			after[path] = aFile(fmt.Sprint(i))
		}
		changes = append(changes, Change{Path: path, Action: Create, Mode: object.Regular, Perm: 0o644, ID: blobs.put(fmt.Sprint(i))})
	}
	last := 0
	outcomes, err := a.Run(context.Background(), changes, func(done, _ int) {
		if done != last+1 {
			t.Errorf("progress went from %d to %d", last, done)
		}
		last = done
	})
	must(t, err)
	for i, out := range outcomes {
		if out.Path != changes[i].Path {
			t.Errorf("outcome %d is that of %q", i, out.Path)
		}
		if i%10 == 0 {
			wantKept(t, out, dir.ErrChanged)
		} else {
			must(t, out.Err)
		}
	}
	if last != len(changes) {
		t.Errorf("progress ended at %d of %d", last, len(changes))
	}
	after.check(t, root)
}

func TestApplyUnusableRoot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	testTree{"file": aFile("x")}.build(t, root)
	for _, path := range []string{"absent", "file"} {
		if _, err := (&Executor{Root: filepath.Join(root, path), Token: "t"}).Run(context.Background(), nil, nil); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("root %q: %v", path, err)
		}
	}
	for _, token := range []string{"", "a/b", ".", "a b"} {
		if _, err := (&Executor{Root: root, Token: token}).Run(context.Background(), nil, nil); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

// TestApplyTokenUsedTwice: another operation's temporary file is not taken over.
func TestApplyTokenUsedTwice(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	tree := testTree{tempName("t0", 0): aFile("half of it")}
	tree.build(t, root)
	a, blobs := newExecutor(root)
	for _, mode := range []object.Mode{object.Regular, object.Symlink} {
		c := Change{Path: "f" + mode.String(), Action: Create, Mode: mode, Perm: 0o644, ID: blobs.put("whole")}
		wantKept(t, applyOne(t, a, c), fs.ErrExist)
		tree.check(t, root)
	}
}
