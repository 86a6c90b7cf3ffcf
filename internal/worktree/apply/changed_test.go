package apply

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

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
